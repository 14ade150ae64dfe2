// node scripts/interop-adopt.mjs: skep on a database of Hive's own schematool (part of npm run test:interop), from the sources.
import { join } from 'node:path';
import { bundleSource, ROOT } from './bundle-source.mjs';

/** Answers whether all held. */
export async function adopts() {
  const start = performance.now();
  const { adoptedDatabase } = await import(
    await bundleSource('test/interop/src/adopted-database.ts', 'interop-adopted')
  );
  const skep = await bundleSource('test/services/skep.ts', 'interop-skep');
  const holds = await adoptedDatabase(join(ROOT, 'test/interop/oracle'), skep);
  console.log(`  in ${((performance.now() - start) / 1000).toFixed(0)} s`);
  return holds;
}

if (process.argv[1] === join(ROOT, 'scripts/interop-adopt.mjs')) {
  process.env.TZ = 'UTC';
  process.exitCode = (await adopts()) ? 0 : 1;
}
