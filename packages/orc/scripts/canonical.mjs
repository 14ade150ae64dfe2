// Prints the rows of ORC files in canonical form: node --conditions=source --experimental-strip-types is not on Node 20, so run after a build
// or through esbuild (see compare-pyarrow.sh).
import { readFileSync } from 'node:fs';
import { memorySource } from '@skep/core';
import { openOrcSync } from '../src/index.ts';
import { canonicalRow } from '../src/testing/canonical.ts';

const path = process.argv[2];
const parts = [];
for (const { root, length } of openOrcSync(memorySource(readFileSync(path), path)).batchesSync()) {
  for (let row = 0; row < length; row++) parts.push(canonicalRow(root, row));
  if (parts.length > 50_000) process.stdout.write(`${parts.splice(0).join('\n')}\n`);
}
if (parts.length > 0) process.stdout.write(`${parts.join('\n')}\n`);
