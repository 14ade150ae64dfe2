// Reads the files of write-files.py and compares every row with NAME.canonical: as a whole, in parts, and the last column alone.
// Usage: node read-files.mjs DIR
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memorySource } from '@skep/core';
import { openOrcSync } from '@skep/orc';
import { canonicalRow } from '../../../packages/orc/src/testing/canonical.ts';

const [folder] = process.argv.slice(2);
let failed = 0;
let checked = 0;

function check(what, reader, options, lines) {
  checked++;
  const rows = [];
  for (const { root, length } of reader.batchesSync(options)) {
    for (let row = 0; row < length; row++) rows.push(canonicalRow(root, row));
  }
  const row = lines.findIndex((line, i) => line !== rows[i]);
  if (row < 0 && rows.length === lines.length) return;
  failed++;
  console.log(`FAILED ${what} row ${row} of ${lines.length}, we have ${rows.length}`);
  console.log(`  written ${lines[row]}\n  read    ${rows[row]}`);
}

for (const file of readdirSync(folder).filter((name) => name.endsWith('.orc'))) {
  const path = join(folder, file);
  const lines = readFileSync(path.replace(/orc$/, 'canonical'), 'utf8').split('\n').slice(0, -1);
  const reader = openOrcSync(memorySource(new Uint8Array(readFileSync(path)), path));
  check(path, reader, {}, lines);
  check(`${path} in parts`, reader, { segmentBytes: 1, batchSize: 100 }, lines);
  const last = reader.schema.children.at(-1);
  const ofLast = lines.map((line) => JSON.stringify([JSON.parse(line).at(-1)]));
  check(`${path} last column`, reader, { include: new Set([last.id]) }, ofLast);
}
console.log(`${checked - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && checked > 0 ? 0 : 1;
