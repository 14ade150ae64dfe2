import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { memorySink } from '@skep/core';
import { OrcWriter, typeToString } from '@skep/orc';
import { SHAPES, type Shape } from './orc-data.js';
import { type Peer, startPeer } from './peer.js';
import { textTable, timingOf } from './statistics.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const BATCH = 8192;
const DEFAULT_SHAPES = ['bigint', 'direct string', 'lineitem'];

/** What the Python side answers for a round. */
interface Round {
  readonly seconds: number;
  readonly peerSeconds: number;
  readonly bytes: number;
}

interface Line extends Round {
  readonly what: string;
  readonly rows: number;
}

/**
 * DoGet into pyarrow beside pyarrow.orc reading the same bucket files, and DoPut from pyarrow beside pyarrow.orc writing a file
 * with the same codec. The service is a process of its own; rounds go in turn.
 */
export async function main(args: string[], tools: { bundle(entry: string): Promise<string> }): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '5' },
      shape: { type: 'string', multiple: true, default: DEFAULT_SHAPES },
      codec: { type: 'string', default: 'zlib' },
      prof: { type: 'string' },
    },
  });
  const python = join(root, '.cache/venv/bin/python');
  const work = mkdtempSync(join(tmpdir(), 'skep-bench-flight-'));
  const prof = values.prof === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.prof}`];
  const bundle = await tools.bundle('bench/src/flight-server.ts');
  const server = startPeer(process.execPath, [...prof, bundle, join(work, 'home')]);
  const lines: Line[] = [];
  let peer: Peer | undefined;
  try {
    const { address } = (await server.ask({ statement: 'show databases' })) as { address?: string };
    peer = startPeer(python, [join(root, 'bench/flight_peer.py'), String(address)]);
    for (const shape of SHAPES.filter(({ name }) => values.shape.includes(name))) {
      const bench = { shape, rows: Number(values.rows), rounds: Number(values.rounds), codec: values.codec, work };
      lines.push(...(await measure(bench, server, peer)));
    }
  } finally {
    peer?.close();
    await server.ask({});
    server.close();
    rmSync(work, { recursive: true, force: true });
  }
  print(lines);
  return 0;
}

interface Measured {
  readonly shape: Shape;
  readonly rows: number;
  readonly rounds: number;
  readonly codec: string;
  readonly work: string;
}

async function measure({ shape, rows, rounds, codec, work }: Measured, server: Peer, peer: Peer): Promise<Line[]> {
  const table = `t_${shape.name.replace(/\W+/g, '_')}`;
  const fields = shape.type.fieldNames.map((name, i) => `${name} ${typeToString(shape.type.children[i])}`);
  const create = `create table ${table} (${fields.join(', ')}) stored as orc tblproperties ('transactional'='true', 'orc.compress'='${codec}')`;
  await server.ask({ statement: create });
  const source = join(work, 'source.orc');
  await writeFile(source, await fileOf(shape, rows));
  const files = join(work, 'home/warehouse', table);
  const question = { table, source, files, codec, target: join(work, 'written.orc') };
  const lines: Line[] = [];
  for (const op of ['put', 'get']) {
    const found: Round[] = [];
    // The first one warms up.
    for (let i = 0; i <= rounds; i++) {
      const answer = await peer.ask({ op, ...question });
      if (answer.error !== undefined) throw new TypeError(`the Python side: ${answer.error}`);
      if (i > 0) found.push(answer as unknown as Round);
    }
    const median = (of: (round: Round) => number) => timingOf(found.map(of)).median;
    const what = `${shape.name}: ${op === 'get' ? 'DoGet' : 'DoPut'}`;
    lines.push({
      what,
      rows,
      seconds: median((r) => r.seconds),
      peerSeconds: median((r) => r.peerSeconds),
      bytes: found[0].bytes,
    });
  }
  return lines;
}

async function fileOf(shape: Shape, rows: number): Promise<Uint8Array> {
  const sink = memorySink();
  const writer = new OrcWriter(sink, shape.type, { compression: 'none' });
  for (let from = 0; from < rows; from += BATCH) await writer.write(shape.batch(from, Math.min(BATCH, rows - from)));
  await writer.close();
  return sink.bytes();
}

function print(lines: readonly Line[]): void {
  const rate = (amount: number, seconds: number): string => (amount / seconds / 1e6).toFixed(2);
  const rows = lines.map(({ what, rows: count, seconds, peerSeconds, bytes }) => [
    what,
    rate(count, seconds),
    rate(count, peerSeconds),
    rate(bytes, seconds),
    rate(bytes, peerSeconds),
    (peerSeconds / seconds).toFixed(2),
  ]);
  const head = ['', 'M rows/s', 'pyarrow.orc', 'MB/s', 'pyarrow.orc', 'ratio'];
  process.stdout.write(`${textTable(head, rows)}\n`);
}
