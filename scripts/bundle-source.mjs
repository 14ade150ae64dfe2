// Bundles a TypeScript entry with the packages' sources, so that a tool runs on plain Node without a build before it.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Everything but our own packages stays outside: native modules cannot be bundled, the rest need not be. */
const ownPackagesOnly = {
  name: 'own-packages-only',
  setup(context) {
    context.onResolve({ filter: /^[^./]/ }, (args) => {
      if (args.kind === 'entry-point' || args.path.startsWith('@skep/') || /^[A-Za-z]:/.test(args.path)) return null;
      return { path: args.path, external: true };
    });
  },
};

/** The path of the bundle of `entry` (relative to the repository), written under node_modules/.cache. */
export async function bundleSource(entry, name) {
  const outfile = join(ROOT, 'node_modules/.cache/skep', `${name}.mjs`);
  mkdirSync(dirname(outfile), { recursive: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['source'],
    sourcemap: 'inline',
    logLevel: 'error',
    plugins: [ownPackagesOnly],
  });
  return outfile;
}
