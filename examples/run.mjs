// npm run demo: the three stories on a fresh home. Each statement, its answer, and the table's folder as it changes.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const skepPath = join(here, '../apps/cli/bin/skep.mjs');
const home = mkdtempSync(join(tmpdir(), 'skep-demo-'));
const env = { ...process.env, SKEP_HOME: home };
const warehouse = join(home, 'warehouse');

function skep(...args) {
  console.log(`\n$ skep ${args.map((arg) => (/[\s"']/.test(arg) ? `"${arg}"` : arg)).join(' ')}`);
  const { status } = spawnSync(process.execPath, [skepPath, ...args], { env, cwd: dirname(here), stdio: 'inherit' });
  if (status !== 0) throw new Error(`skep ended with ${status}`);
}

const title = (text) => console.log(`\n${'='.repeat(text.length)}\n${text}\n${'='.repeat(text.length)}`);
const script = (name, ...args) =>
  skep('--verbose', '--format', 'table', '-f', relative(dirname(here), join(here, name)), ...args);
const listing = (table) => skep('-e', `dfs -ls -R ${join(warehouse, table)}`);

/** The bucket files of a table, in order. */
function bucketFiles(table) {
  return readdirSync(join(warehouse, table), { recursive: true })
    .filter((path) => /(^|\/)bucket_/.test(path))
    .sort()
    .map((path) => join(warehouse, table, path));
}

/** A second process with an open transaction; `ended` is when it has noticed that it was aborted. */
async function openTransaction() {
  const holder = spawn(process.execPath, [join(here, 'hold-transaction.mjs')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => holder.on('exit', resolve));
  let text = '';
  const txnId = await new Promise((resolve, reject) => {
    holder.on('exit', (code) => reject(new Error(`the other process ended with ${code}`)));
    holder.stdout.on('data', (chunk) => {
      text += chunk;
      const open = /^open (\d+)/m.exec(text);
      if (open) resolve(open[1]);
      const over = /^transaction .*$/m.exec(text);
      if (over) console.log(`\n(the other process) ${over[0]}`);
    });
  });
  return { txnId, ended };
}

try {
  title('emp: three inserts, a delete');
  script('emp.sql');
  console.log('\nWhat is in the files: operation 0 is an insert, 2 a delete.');
  for (const file of bucketFiles('emp')) skep('dump', '--data', file);
  skep('dump', bucketFiles('emp')[0]);

  title('trans_student: insert, update, delete, major compaction');
  script('trans_student.sql');
  console.log('\nThe base has replaced the deltas:');
  listing('trans_student');
  skep('dump', '--data', join(warehouse, 'trans_student'));

  title('table_name: compaction with properties');
  script('table_name.sql');
  listing('table_name');
  skep('dump', '--data', join(warehouse, 'table_name'));

  title('table_name: a transaction of another process is aborted');
  const { txnId, ended } = await openTransaction();
  script('table_name_abort.sql', '--hivevar', `open_txn=${txnId}`);
  await ended;
  console.log('\nThe demo is over. Try: npx skep');
} finally {
  rmSync(home, { recursive: true, force: true });
}
