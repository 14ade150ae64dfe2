import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
export default defineConfig({
  plugins: [
    {
      name: 'stub',
      enforce: 'pre',
      resolveId(id) {
        if (/registry\.js$/.test(id) && !existsSync('/work/main/packages/sql/src/functions/registry.ts'))
          return '/work/main/test/scratch/stub.ts';
      },
    },
  ],
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source', 'node', 'import', 'module', 'default'] } },
  test: { include: ['test/scratch/**/*.test.ts'], testTimeout: 60000, root: '/work/main' },
});
