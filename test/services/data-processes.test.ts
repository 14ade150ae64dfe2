import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleSource } from '../../scripts/bundle-source.mjs';
import { Processes, type Running, until } from './processes.js';

/** `skep data` and its clients as processes: clients that die, that wait, that are many. */
const home = mkdtempSync(join(tmpdir(), 'skep-data-processes-'));
let skep: Processes;
let peer: string;
let data: Running;
const clients = new Set<ChildProcess>();

beforeAll(async () => {
  skep = await Processes.open({ SKEP_HOME: home });
  peer = await bundleSource('test/services/flight-peer.ts', `flight-peer-${process.pid}`);
  const acid = "stored as orc tblproperties ('transactional'='true')";
  const made = await skep.run([
    '-e',
    `create table t (id int, s string) ${acid}; create table wide (id int, s string) ${acid}`,
  ]);
  expect(made.err).toBe('');
  data = await skep.start(['data', '--listen', '127.0.0.1:0', '--metrics', '127.0.0.1:0', '--log-level', 'warn']);
}, 60_000);
afterAll(async () => {
  for (const client of clients) client.kill('SIGKILL');
  await data?.end();
  skep?.endAll();
  rmSync(home, { recursive: true, force: true });
}, 60_000);

function client(what: 'put' | 'get', orders: object) {
  const args = [peer, data.address, what, JSON.stringify(orders)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  clients.add(child);
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += String(chunk);
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    text: () => text,
    go: () => child.stdin.write('\n'),
    async end(signal?: NodeJS.Signals) {
      if (signal !== undefined) child.kill(signal);
      await ended;
      return text;
    },
  };
}

async function sql(statements: string): Promise<string[]> {
  const { out, err } = await skep.run(['--format', 'tsv', '-e', statements]);
  expect(err).toBe('');
  return out.split('\n').filter((line) => line !== '');
}

/** A figure on its page. */
async function figure(name: string): Promise<number> {
  const metrics = /metrics on (\S+)/.exec(data.text().out)?.[1];
  const text = await (await fetch(`http://${metrics}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

const filesOf = (folder: string): string[] =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(join(folder, name)).isFile(),
      );
const files = (table: string) => filesOf(join(home, 'warehouse', table));
const openTxns = async () => (await sql('show transactions')).filter((line) => /\tOPEN\t/.test(line));

/** In MiB. */
function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${data.child.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

/** The actions of a Flight service, by the command line's own client of gRPC. */
async function act(type: string, body: object): Promise<{ txnId: number }> {
  const grpc = await import('@grpc/grpc-js');
  const { FlightServiceService } = await import('../../packages/flight/src/gen/flight.js');
  const channel = new grpc.Client(data.address, grpc.credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = FlightServiceService.doAction;
  const action = { type, body: Buffer.from(JSON.stringify(body)) };
  try {
    const call = channel.makeServerStreamRequest(path, requestSerialize, responseDeserialize, action);
    for await (const { body: answer } of call) return JSON.parse(String(answer));
    throw new TypeError('no answer');
  } finally {
    channel.close();
  }
}

describe('a client that goes away in the middle of DoPut', () => {
  it.each(['SIGKILL', 'a deadline'])(
    'leaves nothing of a write of its own: %s',
    async (how) => {
      const command = { table: 't' };
      const writer = client('put', how === 'SIGKILL' ? { command } : { command, deadlineMs: 2000 });
      await until(() => /sent 20\n/.test(writer.text()), 'rows on their way');
      const text = await writer.end(how === 'SIGKILL' ? 'SIGKILL' : undefined);
      if (how !== 'SIGKILL') expect(text).toMatch(/error 4\n$/);
      await until(async () => (await openTxns()).length === 0, 'the end of its transaction');
      expect(await sql('select count(*) from t')).toEqual(['0']);
      expect(files('t')).toEqual([]);
      expect(await figure('skep_data_streams{direction="received"}')).toBe(0);
    },
    60_000,
  );

  it('leaves the rest of a transaction of several writes as it was', async () => {
    const { txnId } = await act('begin', {});
    const writer = client('put', { command: { table: 't', txnId } });
    await until(() => /sent 20\n/.test(writer.text()), 'rows on their way');
    await writer.end('SIGKILL');
    await until(async () => (await figure('skep_data_streams{direction="received"}')) === 0, 'the end of the stream');
    expect(await openTxns()).toHaveLength(1);
    // Its statement was undone; the transaction goes on, and commits what else it wrote.
    await act('commit', { txnId });
    expect(await sql('select count(*) from t')).toEqual(['0']);
    expect(files('t')).toEqual([]);
  }, 60_000);
});

describe('clients that read slowly', () => {
  // 193 MB of Arrow, some in the file: what is read at once is bounded by what it decompresses to.
  const ROWS = 200_000;
  beforeAll(async () => {
    await sql(
      `insert into wide select pos, repeat(md5(cast(pos as string)), 30) from (select posexplode(split(space(${ROWS - 1}), ' '))) q`,
    );
  }, 120_000);

  it('cost little: the service keeps what it has read for them, not the table', async () => {
    const before = memory('VmRSS');
    const reader = client('get', { command: { table: 'wide' }, streams: 4 });
    await until(() => /open/.test(reader.text()), 'open streams');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(await figure('skep_data_streams{direction="sent"}')).toBe(4);
    // Node's own client takes 16 messages of about 1 MiB ahead.
    expect(await figure('skep_data_rows_total{direction="sent"}')).toBeLessThan((4 * ROWS) / 5);
    expect(memory('VmHWM') - before).toBeLessThan(200);
    reader.go();
    expect(await reader.end()).toMatch(/read \[\d+\] of 4\n/);
    // Four times the table went through it.
    expect(await figure('skep_data_bytes_total{direction="sent"}')).toBeGreaterThan(4 * ROWS * 960);
    expect(memory('VmHWM') - before).toBeLessThan(400);
  }, 120_000);

  it('lose their stream when they are killed; their snapshot ends with its ticket', async () => {
    const reader = client('get', { command: { table: 'wide' } });
    await until(() => /open/.test(reader.text()), 'an open stream');
    const txnId = Number(/open (\d+)/.exec(reader.text())?.[1]);
    await reader.end('SIGKILL');
    await until(async () => (await figure('skep_data_streams{direction="sent"}')) === 0, 'the end of the stream');
    expect(await figure('skep_data_held{what="snapshots"}')).toBeGreaterThan(0);
    await act('release', { txnId });
    expect((await openTxns()).some((line) => line.startsWith(`${txnId}\t`))).toBe(false);
  }, 60_000);

  it('are 1,000 at once: each gets all rows', async () => {
    const before = memory('VmRSS');
    await sql(`insert overwrite table t select * from wide where id < 100`);
    const reader = client('get', { command: { table: 't' }, streams: 1000 });
    await until(() => /open/.test(reader.text()), '1,000 open streams');
    reader.go();
    const text = await reader.end();
    expect(text).toMatch(/read \[\d+\] of 1000\n/);
    expect(Number(/read \[(\d+)\]/.exec(text)?.[1])).toBeGreaterThan(100 * 960);
    expect(memory('VmHWM') - before).toBeLessThan(600);
  }, 120_000);
});
