// Writes ORC files of every type with many options, and beside each its expected rows: NAME.jsonl (one JSON value a line) for
// check-files.py, which reads with pyarrow and pyorc, and NAME.canonical for check-java.mjs. OUT/java has more for Java's ORC alone: what
// the others do not read (old dates, unions in unions, any nesting), and search arguments. Usage: node make-files.mjs OUT [SEED]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memorySink, memorySource } from '@skep/core';
import { InvalidReadError, OrcWriter, openOrcSync, parseType, vectorOf } from '@skep/orc';
import { canonicalRow } from '../../../packages/orc/src/testing/canonical.ts';

const [out, seedText = '1'] = process.argv.slice(2);
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

const COLUMNS = Object.keys(SIMPLE);
const FLAT = `struct<${COLUMNS.map((type, i) => `c${i}:${type}`).join(',')}>`;
const NESTED =
  'struct<l:array<int>,ll:array<array<string>>,m:map<string,bigint>,ms:map<string,struct<a:double,b:array<timestamp>>>,' +
  's:struct<a:int,b:string,c:struct<d:decimal(18,2)>>,u:uniontype<int,string,double>>';

async function file(name, typeText, rows, options, special = {}) {
  const type = parseType(typeText);
  const sink = memorySink();
  const writer = new OrcWriter(sink, type, options);
  const next = type.children.map((child, i) => special[type.fieldNames[i]] ?? generator(child, nameOf(child)));
  const lines = [JSON.stringify({ type: typeText, ...options })];
  const canonical = [];
  for (let left = rows; left > 0; ) {
    const batch = Math.min(left, 1 + below(3000));
    left -= batch;
    const values = Array.from({ length: batch }, () => next.map((column) => column()));
    const vector = vectorOf(
      type,
      values.map((row) => row.map(({ value }) => value)),
    );
    await writer.write(vector);
    for (let row = 0; row < batch; row++) canonical.push(canonicalRow(vector, row));
    for (const row of values) lines.push(JSON.stringify(row.map(({ expected }) => expected)));
  }
  writer.addUserMetadata('made.by', Buffer.from('skep'));
  await writer.close();
  const save = (path, bytes) => {
    writeFileSync(join(out, `${path}.orc`), bytes);
    writeFileSync(join(out, `${path}.jsonl`), `${lines.join('\n')}\n`);
    writeFileSync(join(out, `${path}.canonical`), canonical.map((line) => `${line}\n`).join(''));
  };
  save(name, sink.bytes());
  const reader = openOrcSync(memorySource(sink.bytes()));
  if (reader.stripes.length > 1 || name.includes('any-')) save(`${name}-taken`, await taken(reader, options));
}

/** The same rows, every other stripe taken over as it is, in a file that begins with a stripe of its own. */
async function taken(reader, options) {
  const sink = memorySink();
  const writer = new OrcWriter(sink, reader.schema, options);
  for (const number of reader.stripes.keys()) {
    if (number % 2 === 1 || reader.stripes.length === 1) await writer.appendStripe(await reader.wholeStripe(number));
    else {
      const stripeRange = { first: number, end: number + 1 };
      for (const { root } of reader.batchesSync({ stripeRange })) await writer.write(root);
    }
  }
  await writer.close();
  return sink.bytes();
}

mkdirSync(join(out, 'java'), { recursive: true });
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

/** Integers for each form of runs: repeated, steps, packed, and with outliers (patched), and their borders. */
function runs(width) {
  let left = 0;
  let form = 0;
  let value = 0n;
  let step = 0n;
  return () => {
    if (left-- === 0) {
      left = pick([1, 2, 3, 9, 10, 11, 100, 511, 512, 513, 700]);
      form = below(5);
      value = signed(width);
      step = signed(pick([2, 8, 20]));
    }
    if (form === 1) value = BigInt.asIntN(width, value + step);
    if (form === 2) value = signed(width);
    if (form === 3) value = random() < 0.03 ? signed(width) : BigInt(below(100));
    if (form === 4) value = BigInt.asIntN(width, value + BigInt(below(4)));
    return { value: width === 64 ? value : Number(value), expected: String(value) };
  };
}
const RUNS = { b: runs(64), i: runs(32), s: runs(16) };
for (const encodingStrategy of ['speed', 'compression']) {
  const type = 'struct<b:bigint,i:int,s:smallint>';
  await file(`java/runs-${encodingStrategy}`, type, 20_000, { encodingStrategy, compression: 'zstd' }, RUNS);
}

/** Days and seconds of the years 1 to 9999, in the calendars of both kinds of files. */
const OLD = {
  d: () => both(below(3_652_000) - 719_162),
  t: () => {
    const seconds = BigInt(below(315_500_000_000) - 62_135_500_000);
    return { value: { seconds: seconds === -1n ? 0n : seconds, nanos: below(1e9) }, expected: '' };
  },
};
for (const prolepticGregorian of [false, true]) {
  for (const writerTimezone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
    const name = `java/old-${prolepticGregorian}-${writerTimezone.replace('/', '-')}`;
    const zoned = writerTimezone === 'UTC' ? OLD : { d: OLD.d };
    await file(name, 'struct<d:date,t:timestamp>', 3000, { prolepticGregorian, writerTimezone }, zoned);
  }
}

/** Any type, nested at will. */
function anyType(depth, unions = true) {
  const simple = () => pick(COLUMNS);
  if (depth === 0) return simple();
  const child = () => anyType(depth - 1, unions);
  switch (below(6)) {
    case 0:
      return `array<${child()}>`;
    case 1:
      return `map<string,${child()}>`;
    case 2:
      return `struct<x:${child()},y:${child()}>`;
    case 3:
      if (!unions) return `array<struct<z:${child()}>>`;
      return `uniontype<${child()},${child()},${simple()}>`;
    default:
      return simple();
  }
}
for (let i = 0; i < 45; i++) {
  // The last ones also for pyarrow and pyorc, which do not tell a NULL union from a NULL in it.
  const unions = i < 25;
  const type = `struct<a:${anyType(3, unions)},b:${anyType(2, unions)},c:${anyType(4, unions)}>`;
  const compression = pick(['none', 'zlib', 'snappy', 'lz4', 'zstd']);
  const options = { compression, ...(random() < 0.5 ? small : {}), dictionaryKeySizeThreshold: pick([0, 0.8, 1]) };
  await file(unions ? `java/any-${i}` : `any-${i}`, type, 300 + below(900), options);
}
await file('java/many-stripes', FLAT, 6000, { stripeSizeBytes: 1000, rowIndexStride: 1000, blockSizeBytes: 100_000 });
await file('java/empty-nested', NESTED, 0, { compression: 'none' });
await file('java/one-row', NESTED, 1, {});

/** With search arguments for Java: the rows that must be left are in .sarg-rows, those of each argument a line. */
const SEARCHED = [
  ['l', 'bigint', 'LONG', ({ value }) => String(value)],
  ['i', 'int', 'LONG', ({ value }) => String(value)],
  ['s', 'string', 'STRING', ({ value }) => value],
  ['v', 'varchar(7)', 'STRING', ({ value }) => value],
  ['f', 'double', 'FLOAT', ({ value }) => String(value)],
  ['d', 'date', 'DATE', ({ value }) => new Date(value * 86_400_000).toISOString().slice(0, 10)],
  ['c', 'decimal(18,2)', 'DECIMAL', ({ value }) => `${value.unscaled}e-${value.scale}`],
  ['t', 'timestamp', 'TIMESTAMP', timestampLiteral],
];

function timestampLiteral({ value: { seconds, nanos } }) {
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return `${text}.${String(nanos).padStart(9, '0')}`;
}

for (const bloom of [false, true]) {
  let row = 0;
  const kept = { id: [] };
  const special = {
    id: () => {
      const value = { value: BigInt(row++), expected: '' };
      kept.id.push(value);
      return value;
    },
  };
  for (const [name, type] of SEARCHED) {
    const next = SIMPLE[type];
    kept[name] = [];
    special[name] = () => {
      const value = next();
      kept[name].push(value);
      return value;
    };
  }
  const type = `struct<id:bigint,${SEARCHED.map(([name, of]) => `${name}:${of}`).join(',')}>`;
  const columns = bloom ? { bloomFilterColumns: SEARCHED.map(([name]) => name), bloomFilterFpp: 0.01 } : {};
  const path = `java/sarg-${bloom ? 'bloom' : 'statistics'}`;
  await file(path, type, 6000, { rowIndexStride: 500, stripeSizeBytes: 100_000, ...columns }, special);
  const sargs = [];
  for (const [name, of, kind, literal] of [['id', 'bigint', 'LONG', ({ value }) => String(value)], ...SEARCHED]) {
    const texts = kept[name].map(literal);
    const absent = Array.from({ length: 5 }, () => literal(SIMPLE[of]())).filter((text) => !texts.includes(text));
    for (const text of [...Array.from({ length: 5 }, () => pick(texts)), ...absent]) {
      const rows = texts.flatMap((other, i) => (other === text ? [i] : []));
      sargs.push({ line: [name, kind, 'equals', text].join('\t'), rows });
    }
  }
  for (const of of [path, `${path}-taken`]) {
    writeFileSync(join(out, `${of}.sargs`), sargs.map(({ line }) => `${line}\n`).join(''));
    writeFileSync(join(out, `${of}.sarg-rows`), sargs.map(({ rows }) => `${JSON.stringify(rows)}\n`).join(''));
  }
}

/** Read as other types by Java and by us: NAME.schemas, and our rows (or "refused") of the N-th as NAME.schema-N. */
const NUMBER_TEXTS = [
  '0',
  '-1',
  '17',
  '300',
  '-70000',
  '3000000000',
  '99999999999999999999',
  '1.5',
  '-2.75',
  '1e3',
  ' 4 ',
  '+5',
  '',
];
const TIME_TEXTS = [
  '2015-03-04',
  '1969-12-31',
  '2015-03-04 05:06:07',
  '2015-03-04 05:06:07.123456789',
  '1969-07-20 20:17:40.5',
  '2015-3-4',
];
const OTHER_TEXTS = [
  'true',
  'false',
  'TRUE',
  'abc',
  'é',
  '0x1f',
  'NaN',
  '2015-13-45',
  '1970-01-01T00:00:00Z',
  '2015-03-04 05:06:07 UTC',
  '2015-03-04 05:06:07.5 America/New_York',
  '2015-03-04 05:06:07 Mars/X',
];
const TEXTS = [...NUMBER_TEXTS, ...TIME_TEXTS, ...OTHER_TEXTS];
const CONVERTED = {
  ...SIMPLE,
  // Java reads years before Christ wrongly.
  bigint: () => {
    const value = pick([0n, -1n, 127n, 128n, -32769n, 2147483648n, 4102444800n, signed(36)]);
    return { value, expected: '' };
  },
  'decimal(18,2)': () => decimal(41, 2),
  'decimal(38,10)': () => decimal(66, 10),
  string: () => both(pick(TEXTS)),
  'varchar(40)': () => both(pick(TEXTS)),
  double: () =>
    both(pick([0, -0, 1.5, -2.25, 100, 1e10, -1e10, 3e20, 1e300, 123456.789, 0.1, -0.0003, 1e-60, 2147483648])),
  float: () => both(pick([0, -0, 1.5, -2.25, 100, 1e10, 3e20, 123456.789, 0.1, 16777217].map(Math.fround))),
};
const TARGETS = [...COLUMNS, 'string', 'char(3)', 'varchar(2)', 'varchar(40)', 'decimal(10,4)', 'decimal(5,5)'];
for (const [from, next] of Object.entries(CONVERTED)) {
  const name = `java/as-${from.replaceAll(/\W+/g, '-')}`;
  // Java does not read a dictionary as binary.
  const options = { compression: 'none', dictionaryKeySizeThreshold: 0 };
  await file(name, `struct<c:${from}>`, 300, options, { c: () => (random() < 0.1 ? both(null) : next()) });
  const path = join(out, `${name}.orc`);
  const schemas = [...new Set(TARGETS)]
    .filter((to) => to !== from && !(from === 'char(5)' && to === 'binary'))
    .map((to) => `struct<c:${to}>`);
  writeFileSync(join(out, `${name}.schemas`), schemas.map((schema) => `${schema}\n`).join(''));
  for (const [i, schema] of schemas.entries()) writeFileSync(join(out, `${name}.schema-${i}`), readAs(path, schema));
}

function readAs(path, schema) {
  const reader = openOrcSync(memorySource(new Uint8Array(readFileSync(path)), path));
  let text = '';
  try {
    for (const { root, length } of reader.batchesSync({ readSchema: parseType(schema) })) {
      for (let row = 0; row < length; row++) text += `${canonicalRow(root, row)}\n`;
    }
  } catch (error) {
    if (error instanceof InvalidReadError) return 'refused\n';
    throw error;
  }
  return text;
}
