// Writes ORC files of every type with many options, and beside each a file of expected rows (one JSON value a line), for
// check-files.py to read with pyarrow and pyorc. Usage: node make-files.mjs OUT [SEED [hive]]
// With `hive` without the types that Hive 4.0.1 does not read or copy (timestamp with local time zone, uniontype), each file in
// a folder of its own, and hive.sql, which has Hive copy each into a table of its own: check-hive.mjs compares them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { memorySink } from '@skep/core';
import { OrcWriter, parseType, typeToString, vectorOf } from '@skep/orc';

const [out, seedText = '1', mode = ''] = process.argv.slice(2);
const forHive = mode === 'hive';
let state = Number(seedText) >>> 0 || 1;

/** xorshift32: the same files for the same seed. */
function random() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const bits = (n) => {
  let value = 0n;
  for (let i = 0; i < n; i += 16) value = (value << 16n) | BigInt(below(65536));
  return BigInt.asUintN(n, value);
};
const signed = (n) => BigInt.asIntN(n, bits(n)) >> BigInt(below(n));
const text = (most) =>
  Array.from({ length: below(most + 1) }, () => pick(['a', 'b', 'z', 'é', 'ß', '日', '😀', ' ', '0'])).join('');

/** By type: the next value, as vectorOf takes it and as check-files.py expects it. */
const SIMPLE = {
  boolean: () => both(random() < 0.5),
  tinyint: () => both(Number(signed(8))),
  smallint: () => both(Number(signed(16))),
  int: () => both(Number(signed(32))),
  bigint: () => {
    const value = signed(64);
    return { value, expected: String(value) };
  },
  float: () => both(pick([0, -0, 1.5, -2.25, Math.fround(random() * 1e10), Math.fround(random() / 1e10)])),
  double: () => both(pick([0, 1.5, -2.25, random() * 1e300, -random() / 1e300, 5e-324])),
  string: () => both(text(12)),
  'char(5)': () => {
    const value = text(5);
    return { value, expected: value.padEnd(value.length + 5 - [...value].length) };
  },
  'varchar(7)': () => both(text(7)),
  binary: () => {
    const value = Uint8Array.from({ length: below(20) }, () => below(256));
    return { value, expected: Buffer.from(value).toString('hex') };
  },
  date: () => both(below(60_000) - 30_000),
  timestamp: () => timestamp(),
  'timestamp with local time zone': () => timestamp(),
  'decimal(18,2)': () => decimal(59, 2),
  'decimal(9,0)': () => decimal(29, 0),
  'decimal(38,10)': () => decimal(125, 10),
};

function both(value) {
  return { value, expected: value };
}

function timestamp() {
  let seconds = BigInt(below(12_000_000_000) - 5_000_000_000);
  if (seconds === -1n) seconds = 0n;
  const nanos = pick([0, 5e8, 1000, below(1e9)]);
  return { value: { seconds, nanos }, expected: String(seconds * 1_000_000_000n + BigInt(nanos)) };
}

function decimal(width, scale) {
  const unscaled = signed(width);
  return { value: { unscaled, scale }, expected: `${unscaled}` };
}

/** A generator of values of a type that parseType made; NULL in a fifth of the values of some columns. */
function generator(type, name) {
  const next = inner(type, name);
  const nulls = random() < 0.6 ? 0.2 : 0;
  return () => (random() < nulls ? both(null) : next());
}

function inner(type, name) {
  const simple = SIMPLE[name ?? ''];
  if (simple !== undefined) return simple;
  const children = type.children.map((child) => generator(child, nameOf(child)));
  switch (type.kind) {
    case 'list':
      return () => gather(Array.from({ length: below(5) }, children[0]));
    case 'map':
      return () => {
        const keys = new Map();
        for (let i = below(4); i > 0; i--) keys.set(text(3) || 'k', children[1]());
        const entries = [...keys];
        return {
          value: entries.map(([key, { value }]) => [key, value]),
          expected: entries.map(([key, { expected }]) => [key, expected]),
        };
      };
    case 'struct':
      return () => {
        const fields = children.map((next) => next());
        return {
          value: Object.fromEntries(type.fieldNames.map((field, i) => [field, fields[i].value])),
          expected: fields.map(({ expected }) => expected),
        };
      };
    case 'union':
      return () => {
        const tag = below(children.length);
        const { value, expected } = children[tag]();
        return { value: { tag, value }, expected: { tag, value: expected } };
      };
    default:
      throw new TypeError(`no values for ${name}`);
  }
}

function gather(list) {
  return { value: list.map(({ value }) => value), expected: list.map(({ expected }) => expected) };
}

function nameOf(type) {
  switch (type.kind) {
    case 'byte':
      return 'tinyint';
    case 'short':
      return 'smallint';
    case 'long':
      return 'bigint';
    case 'timestamp_instant':
      return 'timestamp with local time zone';
    case 'char':
    case 'varchar':
      return `${type.kind}(${type.maximumLength})`;
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    default:
      return type.kind;
  }
}

const COLUMNS = Object.keys(SIMPLE).filter((type) => !forHive || !type.includes('zone'));
const FLAT = `struct<${COLUMNS.map((type, i) => `c${i}:${type}`).join(',')}>`;
const NESTED =
  'struct<l:array<int>,ll:array<array<string>>,m:map<string,bigint>,ms:map<string,struct<a:double,b:array<timestamp>>>,' +
  `s:struct<a:int,b:string,c:struct<d:decimal(18,2)>>${forHive ? '' : ',u:uniontype<int,string,double>'}>`;
const sql = [];

async function file(name, typeText, rows, options) {
  const type = parseType(typeText);
  const sink = memorySink();
  const writer = new OrcWriter(sink, type, options);
  const next = type.children.map((child) => generator(child, nameOf(child)));
  const lines = [JSON.stringify({ type: typeText, ...options })];
  for (let left = rows; left > 0; ) {
    const batch = Math.min(left, 1 + below(3000));
    left -= batch;
    const values = Array.from({ length: batch }, () => next.map((column) => column()));
    await writer.write(
      vectorOf(
        type,
        values.map((row) => row.map(({ value }) => value)),
      ),
    );
    for (const row of values) lines.push(JSON.stringify(row.map(({ expected }) => expected)));
  }
  writer.addUserMetadata('made.by', Buffer.from('skep'));
  await writer.close();
  if (forHive) {
    mkdirSync(join(out, 'in', name), { recursive: true });
    writeFileSync(join(out, 'in', name, '000000_0'), sink.bytes());
    const table = name.replaceAll('-', '_');
    const columns = type.children.map((child, i) => `${type.fieldNames[i]} ${typeToString(child)}`);
    const at = (folder) => `stored as orc location 'file:${join(resolve(out), folder, name)}'`;
    sql.push(`create external table ${table}_in (${columns.join(', ')}) ${at('in')};`);
    sql.push(`create external table ${table}_out ${at('out')} as select * from ${table}_in;`);
    return;
  }
  writeFileSync(join(out, `${name}.orc`), sink.bytes());
  writeFileSync(join(out, `${name}.jsonl`), `${lines.join('\n')}\n`);
}

mkdirSync(out, { recursive: true });
const small = {
  enforceCompressionBlockSize: true,
  compressionBlockSizeBytes: 1000,
  rowIndexStride: 500,
  stripeSizeBytes: 50_000,
};
for (const compression of ['none', 'zlib', 'snappy', 'lz4', 'zstd']) {
  for (const [kind, type] of [
    ['flat', FLAT],
    ['nested', NESTED],
  ]) {
    await file(`${kind}-${compression}`, type, 3000, { compression });
    await file(`${kind}-${compression}-small`, type, 3000, { compression, ...small });
  }
}
await file('no-index', FLAT, 3000, { rowIndexStride: 0, encodingStrategy: 'compression' });
await file('bits', FLAT, 3000, {
  encodingStrategy: 'compression',
  prolepticGregorian: true,
  dictionaryKeySizeThreshold: 0,
});
await file('dictionary', FLAT, 12_000, { dictionaryKeySizeThreshold: 1, compressionStrategy: 'compression' });
await file('zone', FLAT, 3000, { writerTimezone: 'America/New_York' });
await file('bloom', FLAT, 3000, { bloomFilterColumns: COLUMNS.map((_, i) => `c${i}`), ...small });
await file('empty', FLAT, 0, {});
await file('padded', FLAT, 3000, { ...small, blockSizeBytes: 60_000 });
if (forHive) writeFileSync(join(out, 'hive.sql'), `${sql.join('\n')}\n`);
