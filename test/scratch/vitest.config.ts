import { existsSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
const complete = () => { const f='/work/main/packages/sql/src/functions/'; if (!existsSync(f+'registry.ts')) return false; return [...readFileSync(f+'registry.ts','utf8').matchAll(/from '\.\/(.*?)\.js'/g)].every((m) => existsSync(f+m[1]+'.ts')); };
export default defineConfig({
  plugins: [
    {
      name: 'stub',
      enforce: 'pre',
      resolveId(id) {
        if (/registry\.js$/.test(id) && !complete())
          return '/work/main/test/scratch/stub.ts';
      },
    },
  ],
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source', 'node', 'import', 'module', 'default'] } },
  test: { include: ['test/scratch/**/*.test.ts','test/session/**/*.test.ts'], testTimeout: 60000, root: '/work/main' },
});
