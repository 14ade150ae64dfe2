// Bundles the command line for a short start: native modules and what loads files of its own stay outside.
import { chmodSync } from 'node:fs';
import { build } from 'esbuild';

await build({
  entryPoints: ['src/main.ts', 'src/home.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
  external: [
    'better-sqlite3',
    'mysql2',
    '@duckdb/*',
    'snappy',
    'lz4-napi',
    '@toondepauw/node-zstd',
    'zstd-napi',
    '@grpc/*',
    'grpc-health-check',
    'prom-client',
    'grpc-health-check',
  ],
  // CommonJS packages inside the bundle (commander) ask for Node's modules by require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
});
chmodSync('bin/skep.mjs', 0o755);
