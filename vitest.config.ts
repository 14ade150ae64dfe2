import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Tests run the sources themselves: every package exports its src under the condition "source".
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source', 'node', 'import', 'module', 'default'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', 'test/interop/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // MariaDB for the suites that ask for it.
    globalSetup: ['packages/metadb/test/global-setup.ts'],
  },
});
