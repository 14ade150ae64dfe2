import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes though they are short, the longest first. */
const LONG = ['test/sim/sabotage', 'test/sim/sim', 'test/services/', 'test/chaos/'];

/** Begins with what takes longest: vitest begins with the largest files where it knows no times, and would wait for these at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.includes(name));
      return at === -1 ? LONG.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => place(a) - place(b));
  }
}

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
    sequence: { sequencer: LongestFirst },
    // MariaDB for the suites that ask for it.
    globalSetup: ['packages/metadb/test/global-setup.ts'],
  },
});
