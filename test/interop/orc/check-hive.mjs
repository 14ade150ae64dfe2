// Compares the files of `make-files.mjs OUT SEED hive` with what Hive made of them when it ran OUT/hive.sql.
// Usage: node check-hive.mjs OUT
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memorySource } from '@skep/core';
import { openOrcSync, rowToJson } from '@skep/orc';

const [out] = process.argv.slice(2);

function rowsOf(folder) {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d/.test(name)) : [];
  return files.sort().flatMap((name) => {
    const bytes = new Uint8Array(readFileSync(join(folder, name)));
    // Hive's file of no rows has no bytes.
    if (bytes.length === 0) return [];
    const reader = openOrcSync(memorySource(bytes, join(folder, name)));
    const rows = [];
    for (const { root, length } of reader.batchesSync()) for (let i = 0; i < length; i++) rows.push(rowToJson(root, i));
    return rows;
  });
}

let failed = 0;
const names = readdirSync(join(out, 'in'));
for (const name of names) {
  const ours = rowsOf(join(out, 'in', name));
  const hives = rowsOf(join(out, 'out', name));
  const different = ours.findIndex((row, i) => row !== hives[i]);
  if (different === -1 && ours.length === hives.length) continue;
  failed++;
  console.log(`FAILED ${name}: ${ours.length} rows, Hive ${hives.length}, row ${different}`);
  console.log(`  ours  ${ours[different]}\n  Hive's ${hives[different]}`);
}
console.log(`${names.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && names.length > 0 ? 0 : 1;
