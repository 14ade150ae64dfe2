// A process of its own on a home, for tests that kill it: node victim.mjs HOME STATEMENT…
import { openHome } from '../../apps/cli/src/home.js';

const [path, ...statements] = process.argv.slice(2);
const home = await openHome({ path, env: {}, backgroundCompaction: statements.some((s) => /compact/.test(s)) });
const session = home.newSession();
for (const statement of statements) {
  process.stdout.write(`start ${statement}\n`);
  const { batches } = await session.execute(statement);
  for await (const batch of batches ?? []) process.stdout.write(`batch ${batch.length}\n`);
  process.stdout.write(`done ${statement}\n`);
}
await home.close();
