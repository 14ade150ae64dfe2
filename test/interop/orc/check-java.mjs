// Compares what Java's ORC (java/OrcRows.java) read of the files of make-files.mjs with what they hold: every row, and of each search
// argument that no row that satisfies it is missing and others are left out. Usage: node check-java.mjs IN OUT
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, out] = process.argv.slice(2);
const linesOf = (path) =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [`no file ${path}`];

let failed = 0;
let checked = 0;
function check(what, problem) {
  checked++;
  if (problem === undefined) return;
  failed++;
  console.log(`FAILED ${what}: ${problem}`);
}

function rowsProblem(ours, javas) {
  const row = ours.findIndex((line, i) => line !== javas[i]);
  if (row >= 0) return `row ${row}\n  ours   ${ours[row]}\n  Java's ${javas[row]}`;
  return ours.length === javas.length ? undefined : `${ours.length} rows, Java has ${javas.length}`;
}

for (const file of readdirSync(folder).filter((name) => name.endsWith('.orc'))) {
  const name = file.slice(0, -'.orc'.length);
  const ours = linesOf(join(folder, `${name}.canonical`));
  check(name, rowsProblem(ours, linesOf(join(out, `${name}.rows`))));
  if (existsSync(join(folder, `${name}.schemas`))) {
    for (const [i, schema] of linesOf(join(folder, `${name}.schemas`)).entries()) {
      const part = `${name}.schema-${i}`;
      check(`${name} read as ${schema}`, rowsProblem(linesOf(join(folder, part)), linesOf(join(out, part))));
    }
  }
  if (!existsSync(join(folder, `${name}.sargs`))) continue;
  const sargs = linesOf(join(folder, `${name}.sargs`));
  const wanted = linesOf(join(folder, `${name}.sarg-rows`)).map((line) => JSON.parse(line));
  let left = 0;
  for (const [i, sarg] of sargs.entries()) {
    const found = new Set(linesOf(join(out, `${name}.sarg-${i}`)).map(Number));
    left += found.size;
    const missing = wanted[i].filter((row) => !found.has(row));
    check(`${name} ${sarg}`, missing.length === 0 ? undefined : `Java leaves out row ${missing[0]}`);
  }
  const share = left / (sargs.length * ours.length);
  console.log(`${name}: ${sargs.length} search arguments leave ${(share * 100).toFixed(0)} % of the rows`);
  // Values are spread over all row groups, so that only bloom filters leave much out.
  check(`${name} leaves rows out`, share < (name.includes('bloom') ? 0.5 : 0.97) ? undefined : `${share} are left`);
}
console.log(`${checked - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && checked > 0 ? 0 : 1;
