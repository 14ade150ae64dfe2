import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import {
  type ByteSink,
  type ByteSource,
  inMemoryKeys,
  memorySource,
  OrcWriter,
  openOrc,
  parseKeys,
  parseType,
  rowToJson,
  VectorBuilder,
} from './index.js';

/*
 * README's examples: the code between `// example` and `// end` is in README word for word, so that what README says runs.
 */
const folder = mkdtempSync(join(tmpdir(), 'orc-readme-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'people.orc');

async function writePeople(): Promise<void> {
  // example
  const schema = parseType('struct<id:bigint,name:string,scores:array<double>>');
  const rows = new VectorBuilder(schema);
  rows.append({ id: 1n, name: 'Ada', scores: [1.5, null] });
  rows.append({ id: 2n, name: null, scores: [] });

  const file = await open(path, 'w');
  const sink: ByteSink = {
    path,
    write: async (bytes) => void (await file.write(bytes)),
    close: () => file.close(),
    abort: () => file.close(),
  };
  const writer = new OrcWriter(sink, schema, { compression: 'zstd', bloomFilterColumns: ['id'] });
  await writer.write(rows.build());
  await writer.close();
  // end
}

async function readPeople(print: (line: string) => void): Promise<void> {
  const console = { log: print };
  // example
  const file = await open(path, 'r');
  const source: ByteSource = {
    path,
    size: (await file.stat()).size,
    slice: async (start, end) => (await file.read(new Uint8Array(end - start), 0, end - start, start)).buffer,
  };
  const reader = await openOrc(source);
  const { children } = reader.schema;
  const options = {
    include: new Set([children[0].id, children[1].id]),
    sarg: { op: 'lessThan', column: 'id', literal: 2n },
  } as const;
  for await (const { root, length, rowNumber } of reader.batches(options)) {
    for (let row = 0; row < length; row++) console.log(`${rowNumber + row}: ${rowToJson(root, row)}`);
  }
  await file.close();
  // end
}

async function readSecrets(source: ByteSource, print: (line: string) => void): Promise<void> {
  const console = { log: print };
  const readFile = async (_path: string, _encoding: string) =>
    readFileSync(new URL('../test-files/encrypted-zlib-two-keys.keys', import.meta.url), 'utf8').replace(
      /^top.*$/m,
      '',
    );
  // example
  const keys = inMemoryKeys(parseKeys(await readFile('my.keys', 'utf8'), 'my.keys'));
  const reader = await openOrc(source, { keys });
  for (const [id, { key, mask, readable }] of reader.encryptedColumns) {
    console.log(`column ${id}: key ${key.name}@${key.version}, mask ${mask}, ${readable ? 'open' : 'locked'}`);
  }
  // end
}

test('the example of encrypted columns', async () => {
  const file = readFileSync(new URL('../test-files/encrypted-zlib-two-keys.orc', import.meta.url));
  const lines: string[] = [];
  await readSecrets(memorySource(new Uint8Array(file), 'secret.orc'), (line) => lines.push(line));
  expect(lines).toContain('column 4: key pii@0, mask sha256, open');
  expect(lines).toContain('column 5: key top_secret@3, mask nullify, locked');
});

test('the writing example writes what the reading example reads', async () => {
  await writePeople();
  const lines: string[] = [];
  await readPeople((line) => lines.push(line));
  expect(lines).toEqual(['0: {"id": 1, "name": "Ada"}', '1: {"id": 2, "name": null}']);
});

test('README has the examples word for word', () => {
  const source = readFileSync(fileURLToPath(import.meta.url), 'utf8');
  const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8');
  const examples = [...source.matchAll(/^ {2}\/\/ example\n([\s\S]*?)^ {2}\/\/ end$/gm)].map(([, code]) =>
    code.replaceAll(/^ {2}/gm, ''),
  );
  expect(examples.length).toBe(3);
  for (const example of examples) expect(readme).toContain(example);
});
