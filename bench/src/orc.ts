import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { memorySink, memorySource } from '@skep/core';
import { OrcWriter, type OrcWriterOptions, openOrcSync, type ReadOptions, type StructVector } from '@skep/orc';
import { SHAPES, type Shape, TWENTY } from './orc-data.js';
import { memory } from './orc-memory.js';
import { type Peer, startPeer } from './peer.js';
import { textTable, timingOf } from './statistics.js';

export { memoryPart } from './orc-memory.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const BATCH = 8192;
/** Of our side before the first round, so that V8 has compiled what is measured; pyarrow is asked once. */
const WARM_UP_MS = 300;

/** Short rounds go on so long, at most so many: on a busy machine a median of few is chance. */
const LEAST_MS = 400;
const MOST_ROUNDS = 101;

type Codec = NonNullable<OrcWriterOptions['compression']>;
const CODECS: readonly Codec[] = ['none', 'zlib', 'snappy', 'lz4', 'zstd'];
const PYARROW_NAME: Readonly<Record<Codec, string>> = {
  none: 'uncompressed',
  zlib: 'zlib',
  snappy: 'snappy',
  lz4: 'lz4',
  zstd: 'zstd',
};

interface Line {
  readonly what: string;
  readonly rows: number;
  readonly ours: number;
  /** Seconds; undefined where pyarrow could not. */
  readonly theirs: number | undefined;
}

/** The same data written with pyarrow and with us, and both files read with both; one thread each, in one run. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string' },
      rounds: { type: 'string' },
      shape: { type: 'string', multiple: true },
      codec: { type: 'string', multiple: true },
      memory: { type: 'boolean' },
      gb: { type: 'string' },
      cpu: { type: 'boolean' },
    },
  });
  const wanted = (shape: string, codec: string): boolean =>
    (values.shape?.includes(shape) ?? true) && (values.codec?.includes(codec) ?? true);
  if (values.memory) return memory(wanted, Number(values.gb ?? 1));
  const rows = Number(values.rows ?? 500_000);
  const rounds = Number(values.rounds ?? 7);
  const codecs = CODECS.filter((codec) => values.codec === undefined || values.codec.includes(codec));
  const shapes = SHAPES.filter((shape) => values.shape === undefined || values.shape.includes(shape.name));
  const python = join(root, '.cache/venv/bin/python');
  if (!existsSync(python))
    process.stderr.write('no pyarrow: run scripts/setup-interop.sh; only our side is measured\n');
  const peer = existsSync(python) ? startPeer(python, [join(root, 'bench/orc_peer.py')]) : undefined;
  const work = mkdtempSync(join(tmpdir(), 'skep-bench-orc-'));
  const lines: Line[] = [];
  try {
    const bench = new OrcBench(peer, work, rounds, values.cpu ?? false);
    for (const shape of shapes) for (const codec of codecs) lines.push(...(await bench.shape(shape, codec, rows)));
    if (values.shape === undefined) {
      for (const codec of codecs) lines.push(...(await bench.selective(codec, Math.floor(rows / 2))));
    }
  } finally {
    peer?.close();
    rmSync(work, { recursive: true, force: true });
  }
  print(lines);
  return 0;
}

class OrcBench {
  private files = 0;

  constructor(
    private readonly peer: Peer | undefined,
    private readonly work: string,
    private readonly rounds: number,
    /** Seconds of processor time (of ours, all threads) instead of those on the wall: for a machine that others use. */
    private readonly cpu: boolean,
  ) {}

  async shape(shape: Shape, codec: Codec, rows: number): Promise<Line[]> {
    const batches = batchesOf(shape, rows);
    const own = join(this.work, `own-${++this.files}.orc`);
    const other = join(this.work, `other-${this.files}.orc`);
    let bytes = new Uint8Array(0);
    const write = async () => {
      bytes = await writeAll(shape, codec, batches);
    };
    await write();
    writeFileSync(own, bytes);
    const name = `${shape.name}, ${codec}`;
    const question = { op: 'write', source: own, target: other, compression: PYARROW_NAME[codec] };
    const written = { what: `${name}: write`, rows, ...(await this.compare(`${name}: write`, write, question)) };
    const lines: Line[] = [written];
    lines.push(await this.read(`${name}: read ours`, own, rows));
    if (written.theirs !== undefined) lines.push(await this.read(`${name}: read pyarrow's`, other, rows));
    return lines;
  }

  /** One column of twenty, and one row of a hundred. */
  async selective(codec: Codec, rows: number): Promise<Line[]> {
    const path = join(this.work, 'twenty.orc');
    writeFileSync(path, await writeAll(TWENTY, codec, batchesOf(TWENTY, rows)));
    const one = await this.read(`1 of 20 columns, ${codec}`, path, rows, ['c7']);
    const low = Math.floor(rows / 2);
    const high = low + Math.floor(rows / 100);
    const sarg: ReadOptions['sarg'] = { op: 'between', column: 'c0', low: BigInt(low), high: BigInt(high) };
    const filter = async () => void readAll(readFileSync(path), { sarg });
    const what = `1 % by a search argument, ${codec}`;
    const times = await this.compare(what, filter, { op: 'filter', path, column: 'c0', low, high });
    return [one, { what, rows, ...times }];
  }

  private async read(what: string, path: string, rows: number, columns?: readonly string[]): Promise<Line> {
    const bytes = readFileSync(path);
    const work = async () => {
      const { schema } = openOrcSync(memorySource(bytes));
      const include = columns && new Set(columns.map((name) => schema.children[schema.fieldNames.indexOf(name)].id));
      readAll(bytes, include === undefined ? {} : { include });
    };
    const question = { op: 'read', path, ...(columns === undefined ? {} : { columns }) };
    return { what, rows, ...(await this.compare(what, work, question)) };
  }

  /** Medians of rounds in turn (at least `rounds` of them), so that what else the machine does meets both sides alike. */
  private async compare(
    what: string,
    work: () => Promise<void>,
    question: object,
  ): Promise<Pick<Line, 'ours' | 'theirs'>> {
    const warm = performance.now();
    do await work();
    while (performance.now() - warm < WARM_UP_MS);
    await this.ask(question);
    const ours: number[] = [];
    const theirs: number[] = [];
    const begin = performance.now();
    const enough = (): boolean => ours.length >= MOST_ROUNDS || performance.now() - begin > LEAST_MS;
    while (ours.length < this.rounds || !enough()) {
      const start = this.seconds();
      await work();
      ours.push(this.seconds() - start);
      const seconds = await this.ask(question);
      if (seconds !== undefined) theirs.push(seconds);
    }
    const times = { ours: timingOf(ours).median, theirs: theirs.length === 0 ? undefined : timingOf(theirs).median };
    // Tells that it goes on: the table comes at the end.
    process.stderr.write(`${what}: ${((times.theirs ?? Number.NaN) / times.ours).toFixed(2)}\n`);
    return times;
  }

  private seconds(): number {
    if (!this.cpu) return performance.now() / 1000;
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }

  private async ask(request: object): Promise<number | undefined> {
    if (this.peer === undefined) return undefined;
    const { seconds, error } = await this.peer.ask({ rounds: 1, cpu: this.cpu, ...request });
    if (error !== undefined) process.stderr.write(`pyarrow: ${error}\n`);
    return seconds;
  }
}

function batchesOf(shape: Shape, rows: number): StructVector[] {
  const batches: StructVector[] = [];
  for (let from = 0; from < rows; from += BATCH) batches.push(shape.batch(from, Math.min(BATCH, rows - from)));
  return batches;
}

async function writeAll(
  shape: Shape,
  codec: Codec,
  batches: readonly StructVector[],
): Promise<Uint8Array<ArrayBuffer>> {
  const sink = memorySink();
  const writer = new OrcWriter(sink, shape.type, { compression: codec });
  for (const batch of batches) await writer.write(batch);
  await writer.close();
  return new Uint8Array(sink.bytes());
}

function readAll(bytes: Uint8Array, options: ReadOptions): number {
  let rows = 0;
  for (const batch of openOrcSync(memorySource(bytes)).batchesSync(options)) rows += batch.length;
  return rows;
}

function print(lines: readonly Line[]): void {
  const rate = (rows: number, seconds: number): string => (rows / seconds / 1e6).toFixed(2);
  const ratios: Record<'read' | 'write', number[]> = { read: [], write: [] };
  const rows = lines.map(({ what, rows, ours, theirs }) => {
    const ratio = theirs === undefined ? undefined : theirs / ours;
    if (ratio !== undefined) ratios[what.endsWith('write') ? 'write' : 'read'].push(ratio);
    return [what, rate(rows, ours), theirs === undefined ? '' : rate(rows, theirs), ratio?.toFixed(2) ?? ''];
  });
  process.stdout.write(`${textTable(['million rows/s', 'skep', 'pyarrow', 'skep/pyarrow'], rows)}\n`);
  for (const [name, list] of Object.entries(ratios)) {
    if (list.length === 0) continue;
    const worst = Math.min(...list).toFixed(2);
    process.stdout.write(
      `${name}: median ratio ${timingOf(list).median.toFixed(2)}, lowest ${worst} of ${list.length} lines\n`,
    );
  }
}
