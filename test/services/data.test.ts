import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { type ServeDataOptions, serveData } from '@skep/data';
import { silentLogger } from '@skep/telemetry/log';
import { afterEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import {
  type FlightDescriptor,
  FlightDescriptor_DescriptorType,
  type FlightInfo,
  FlightServiceService,
} from '../../packages/flight/src/gen/flight.js';
import { freshHome, run } from '../session/harness.js';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function tables(...statements: string[]): Promise<Home> {
  const home = await freshHome();
  closing.push(async () => {
    await home.close();
    rmSync(home.path, { recursive: true, force: true });
  });
  await run(home.newSession(), ...statements);
  return home;
}

async function flight(home: Home, options: Partial<ServeDataOptions> = {}) {
  const { services, conf } = home;
  const data = await serveData({ services, conf, serve: {}, log: silentLogger, ...options });
  closing.push(() => data.close(50));
  return data.address;
}

function clientOf(address: string, token?: string) {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  closing.push(() => client.close());
  const metadata = new grpc.Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  const { getFlightInfo, doGet, doAction } = FlightServiceService;
  return {
    info: (command: object) =>
      new Promise<FlightInfo>((resolve, reject) => {
        const type = FlightDescriptor_DescriptorType.CMD;
        const request: FlightDescriptor = { type, cmd: Buffer.from(JSON.stringify(command)), path: [] };
        client.makeUnaryRequest(
          getFlightInfo.path,
          getFlightInfo.requestSerialize,
          getFlightInfo.responseDeserialize,
          request,
          metadata,
          (error, answer) => (answer === undefined ? reject(error) : resolve(answer)),
        );
      }),
    messages: async (info: FlightInfo) => {
      let count = 0;
      for (const { ticket } of info.endpoint) {
        const call = client.makeServerStreamRequest(
          doGet.path,
          doGet.requestSerialize,
          doGet.responseDeserialize,
          ticket ?? { ticket: Buffer.alloc(0) },
          metadata,
        );
        for await (const _ of call) count++;
      }
      return count;
    },
    act: async (type: string, body: object) => {
      const action = { type, body: Buffer.from(JSON.stringify(body)) };
      const { requestSerialize, responseDeserialize, path } = doAction;
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, action, metadata);
      for await (const { body: answer } of call) return JSON.parse(String(answer));
    },
  };
}

const txnOf = (info: FlightInfo) => JSON.parse(String(info.appMetadata)).txnId as number;
const ACID = "stored as orc tblproperties ('transactional'='true')";

describe('skep data', () => {
  it('keeps the files of a ticket: the Cleaner waits until it is released', async () => {
    const home = await tables(
      `create table t (id int) ${ACID}`,
      'insert into t values (1)',
      'insert into t values (2)',
    );
    const client = clientOf(await flight(home));
    const info = await client.info({ table: 't' });
    expect(info.endpoint).toHaveLength(2);
    expect(info.totalRecords).toBe(2n);
    await run(home.newSession(), "alter table t compact 'major'");
    expect(await home.compactor.runWorkerOnce()).toBe(true);
    await home.compactor.runCleanerOnce();
    const folder = join(home.warehouse, 't');
    const deltas = () => readdirSync(folder).filter((name) => name.startsWith('delta'));
    expect(deltas()).toHaveLength(2);
    // A schema and a batch each.
    expect(await client.messages(info)).toBe(4);
    await client.act('release', { txnId: txnOf(info) });
    await expect(client.messages(info)).rejects.toMatchObject({ code: grpc.status.FAILED_PRECONDITION });
  });

  it('lets tickets expire, and says to ask again', async () => {
    const home = await tables(`create table t (id int) ${ACID}`, 'insert into t values (1)');
    const client = clientOf(await flight(home, { ticketMs: 200 }));
    const info = await client.info({ table: 't' });
    await new Promise((resolve) => setTimeout(resolve, 400));
    await expect(client.messages(info)).rejects.toThrow(/expired at .*ask for new tickets/);
  });

  it('bounds the snapshots that it keeps', async () => {
    const home = await tables(`create table t (id int) ${ACID}`, 'insert into t values (1)');
    const client = clientOf(await flight(home, { maxHeld: 1 }));
    const info = await client.info({ table: 't' });
    await expect(client.info({ table: 't' })).rejects.toMatchObject({ code: grpc.status.RESOURCE_EXHAUSTED });
    await client.act('release', { txnId: txnOf(info) });
    await client.info({ table: 't' });
  });

  it('gives tickets to their user alone; another service with the key redeems them', async () => {
    const home = await tables(`create table t (id int) ${ACID}`, 'insert into t values (1)');
    const folder = mkdtempSync(join(tmpdir(), 'skep-data-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const tokensFile = join(folder, 'tokens');
    const line = (user: string) => `${user} ${createHash('sha256').update(`token-${user}`).digest('hex')}`;
    writeFileSync(tokensFile, `${line('anna')}\n${line('bert')}\n`);
    const options = { serve: { identity: { tokensFile } }, ticketKey: Buffer.from('a key of both services') };
    const [first, second] = [await flight(home, options), await flight(home, options)];
    await expect(clientOf(first).info({ table: 't' })).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
    const info = await clientOf(first, 'token-anna').info({ table: 't' });
    expect(await clientOf(second, 'token-anna').messages(info)).toBe(2);
    await expect(clientOf(first, 'token-bert').messages(info)).rejects.toMatchObject({
      code: grpc.status.PERMISSION_DENIED,
    });
    await clientOf(first, 'token-anna').act('release', { txnId: txnOf(info) });
    await expect(clientOf(second, 'token-anna').messages(info)).rejects.toThrow(/ask for new tickets/);
  });

  it('tells where a transaction or snapshot is that another service keeps', async () => {
    const home = await tables(`create table t (id int) ${ACID}`, 'insert into t values (1)');
    const ticketKey = Buffer.from('a key of both services');
    const here = await flight(home, { ticketKey });
    const there = await flight(home, { ticketKey });
    const { txnId } = (await clientOf(here).act('begin', {})) as { txnId: number };
    const info = await clientOf(here).info({ table: 't' });
    const elsewhere = { code: grpc.status.FAILED_PRECONDITION, message: expect.stringContaining(`data ${here} on `) };
    const other = clientOf(there);
    for (const action of ['commit', 'abort', 'heartbeat']) {
      await expect(other.act(action, { txnId })).rejects.toMatchObject(elsewhere);
    }
    await expect(other.info({ table: 't', snapshot: { txnId } })).rejects.toMatchObject(elsewhere);
    await expect(other.act('release', { txnId: txnOf(info) })).rejects.toMatchObject(elsewhere);
    // Its splits can be read at both.
    expect(await other.messages(info)).toBe(2);
    await clientOf(here).act('commit', { txnId });
    await expect(other.act('commit', { txnId })).rejects.toThrow('it is committed');
    await clientOf(here).act('release', { txnId: txnOf(info) });
    const unknown = { code: grpc.status.NOT_FOUND, message: expect.stringContaining('there is no such transaction') };
    await expect(other.act('abort', { txnId: 4711 })).rejects.toMatchObject(unknown);
  });

  it('rolls back the transactions of clients at its end', async () => {
    const home = await tables(`create table t (id int) ${ACID}`);
    const { services, conf } = home;
    const data = await serveData({ services, conf, serve: {}, log: silentLogger });
    await clientOf(data.address).act('begin', {});
    await data.close(50);
    const { txns } = await services.txns.showTxns({});
    expect(txns.filter(({ state }) => state === 1)).toEqual([]);
    expect(existsSync(home.path)).toBe(true);
  });
});
