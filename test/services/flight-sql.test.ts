import { rmSync } from 'node:fs';
import * as grpc from '@grpc/grpc-js';
import { serveData } from '@skep/data';
import {
  batchMessage,
  fromRecordBatch,
  readIpc,
  schemaMessage,
  toArrowSchema,
  toRecordBatch,
  toTypeDescription,
} from '@skep/flight';
import { parseType, type StructVector, vectorOf, vectorValue } from '@skep/orc';
import { silentLogger } from '@skep/telemetry/log';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import {
  type FlightData,
  FlightDescriptor_DescriptorType,
  type FlightInfo,
  FlightServiceService,
} from '../../packages/flight/src/gen/flight.js';
import * as sql from '../../packages/flight/src/gen/flight_sql.js';
import { packSql, unpackSql } from '../../packages/flight/src/sql/any.js';
import { freshHome, rows, run } from '../session/harness.js';

let home: Home;
let client: grpc.Client;
let close: () => Promise<void>;
beforeEach(async () => {
  home = await freshHome();
  await run(
    home.newSession(),
    "create table t (id int, s string) stored as orc tblproperties ('transactional'='true')",
  );
  const data = await serveData({ services: home.services, conf: home.conf, serve: {}, log: silentLogger });
  client = new grpc.Client(data.address, grpc.credentials.createInsecure());
  close = async () => {
    client.close();
    await data.close(50);
    await home.close();
    rmSync(home.path, { recursive: true, force: true });
  };
});
afterEach(() => close());

const descriptorOf = (cmd: Buffer) => ({ type: FlightDescriptor_DescriptorType.CMD, cmd, path: [] });
const query = (text: string) =>
  packSql('CommandStatementQuery', sql.CommandStatementQuery.encode({ query: text }).finish());

async function info(cmd: Buffer): Promise<FlightInfo> {
  const { path, requestSerialize, responseDeserialize } = FlightServiceService.getFlightInfo;
  return await new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, descriptorOf(cmd), (error, answer) =>
      answer === undefined ? reject(error) : resolve(answer),
    );
  });
}

/** The rows of a command as values. */
async function read(found: FlightInfo): Promise<unknown[]> {
  const { path, requestSerialize, responseDeserialize } = FlightServiceService.doGet;
  const values: unknown[] = [];
  for (const { ticket } of found.endpoint) {
    const wanted = ticket ?? { ticket: Buffer.alloc(0) };
    const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, wanted);
    const { schema, batches } = await readIpc(
      (async function* messages() {
        for await (const { dataHeader: header, dataBody: body } of call as AsyncIterable<FlightData>)
          yield { header, body };
      })(),
    );
    const type = toTypeDescription(schema);
    for await (const batch of batches) {
      const root = fromRecordBatch(batch, type);
      for (let row = 0; row < root.length; row++) values.push(vectorValue(root, row));
    }
  }
  return values;
}

async function put(messages: readonly Partial<FlightData>[]): Promise<bigint> {
  const { path, requestSerialize, responseDeserialize } = FlightServiceService.doPut;
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  const empty = { dataHeader: Buffer.alloc(0), appMetadata: Buffer.alloc(0), dataBody: Buffer.alloc(0) };
  for (const message of messages) call.write({ ...empty, ...message });
  call.end();
  for await (const { appMetadata } of call) return sql.DoPutUpdateResult.decode(appMetadata).recordCount;
  throw new TypeError('no answer');
}

async function act(type: string, body: Buffer): Promise<Buffer> {
  const { path, requestSerialize, responseDeserialize } = FlightServiceService.doAction;
  const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { type, body });
  for await (const { body: answer } of call) return answer;
  return Buffer.alloc(0);
}

const update = (text: string) =>
  put([
    {
      flightDescriptor: descriptorOf(
        packSql('CommandStatementUpdate', sql.CommandStatementUpdate.encode({ query: text }).finish()),
      ),
    },
  ]);

const openTxns = async () => (await home.services.txns.showTxns({})).txns.filter(({ state }) => state === 1);

describe('Flight SQL', () => {
  it('runs statements, prepared or not, each once', async () => {
    expect(await update("insert into t values (1, 'a'), (2, 'b');")).toBe(2n);
    expect(await update("update t set s = 'c' where id = 2")).toBe(1n);
    const found = await info(query('select s, id from t order by id'));
    expect(await read(found)).toEqual([
      { s: 'a', id: 1 },
      { s: 'c', id: 2 },
    ]);
    await expect(read(found)).rejects.toMatchObject({ code: grpc.status.FAILED_PRECONDITION });
    const request = sql.ActionCreatePreparedStatementRequest.encode({ query: 'select count(*) n from t' }).finish();
    const made = unpackSql(
      await act('CreatePreparedStatement', packSql('ActionCreatePreparedStatementRequest', request)),
    );
    const { preparedStatementHandle } = sql.ActionCreatePreparedStatementResult.decode(made?.value ?? Buffer.alloc(0));
    const prepared = sql.CommandPreparedStatementQuery.encode({ preparedStatementHandle }).finish();
    for (let i = 0; i < 2; i++) {
      expect(await read(await info(packSql('CommandPreparedStatementQuery', prepared)))).toEqual([{ n: 2n }]);
    }
    await act('ClosePreparedStatement', Buffer.alloc(0));
    // DDL by a query: no rows, nothing to fetch.
    expect((await info(query('create table u (a int)'))).endpoint).toEqual([]);
    expect(await openTxns()).toEqual([]);
  });

  it('ends a statement whose client goes away', async () => {
    await update("insert into t values (1, 'a')");
    const [{ ticket }] = (await info(query('select * from t'))).endpoint;
    expect(await openTxns()).toHaveLength(1);
    const { path, requestSerialize, responseDeserialize } = FlightServiceService.doGet;
    const wanted = ticket ?? { ticket: Buffer.alloc(0) };
    const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, wanted);
    call.on('error', () => undefined);
    // With the schema, before any row.
    call.once('data', () => call.cancel());
    for (let i = 0; i < 100 && (await openTxns()).length > 0; i++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await openTxns()).toEqual([]);
  });

  it('ends the transaction of a statement that fails, and refuses what is not for clients', async () => {
    await expect(info(query('select nothing from t'))).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
    await expect(info(query('select * from'))).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
    const directory = "insert overwrite local directory '/tmp/nowhere' select 1";
    for (const statement of [
      'set a=b',
      'dfs -ls /',
      'use default',
      'start transaction',
      "load data inpath '/x' into table t",
      directory,
      `from t ${directory.replace('select 1', 'select id')} insert into t select *`,
    ]) {
      await expect(info(query(statement))).rejects.toThrow('is not for clients of Flight SQL');
    }
    const keys = packSql('CommandGetPrimaryKeys', Buffer.alloc(0));
    await expect(info(keys)).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
    expect(await openTxns()).toEqual([]);
  });

  it('ingests rows into tables that it makes, appends to, replaces', async () => {
    const type = parseType('struct<id:bigint,l:array<string>>');
    const schema = toArrowSchema(type);
    const batch = batchMessage(
      toRecordBatch(
        schema,
        vectorOf(type, [
          { id: 1n, l: ['x'] },
          { id: 2n, l: null },
        ]) as StructVector,
      ),
    );
    const ingest = (ifNotExist: number, ifExists: number) => {
      const command = { table: 'new', tableDefinitionOptions: { ifNotExist, ifExists }, temporary: false, options: {} };
      const cmd = packSql('CommandStatementIngest', sql.CommandStatementIngest.encode(command).finish());
      return put([
        { flightDescriptor: descriptorOf(cmd), dataHeader: Buffer.from(schemaMessage(schema).header) },
        { dataHeader: Buffer.from(batch.header), dataBody: Buffer.from(batch.body) },
      ]);
    };
    const [CREATE, NOT_THERE_FAIL] = [1, 2];
    const [FAIL, APPEND, REPLACE] = [1, 2, 3];
    const count = () => rows(home.newSession(), 'select count(*), sum(id) from new');
    await expect(ingest(NOT_THERE_FAIL, APPEND)).rejects.toThrow('Table not found default.new');
    expect(await ingest(CREATE, FAIL)).toBe(2n);
    await expect(ingest(CREATE, FAIL)).rejects.toMatchObject({ code: grpc.status.ALREADY_EXISTS });
    expect(await count()).toEqual(['2\t3']);
    await ingest(NOT_THERE_FAIL, APPEND);
    expect(await count()).toEqual(['4\t6']);
    await ingest(CREATE, REPLACE);
    expect(await count()).toEqual(['2\t3']);
  });

  it('tells what there is', async () => {
    const of = async (name: string, body = Buffer.alloc(0)) => await read(await info(packSql(name, body)));
    expect(await of('CommandGetCatalogs')).toEqual([{ catalog_name: 'hive' }]);
    expect(await of('CommandGetTableTypes')).toEqual([{ table_type: 'TABLE' }]);
    const schemas = sql.CommandGetDbSchemas.encode({ dbSchemaFilterPattern: 'def%' }).finish();
    expect(await of('CommandGetDbSchemas', Buffer.from(schemas))).toEqual([
      { catalog_name: 'hive', db_schema_name: 'default' },
    ]);
    const tables = (pattern: string) => {
      const command = { tableNameFilterPattern: pattern, tableTypes: [], includeSchema: true };
      return of('CommandGetTables', Buffer.from(sql.CommandGetTables.encode(command).finish()));
    };
    expect(await tables('_')).toMatchObject([{ db_schema_name: 'default', table_name: 't', table_type: 'TABLE' }]);
    expect(await tables('x%')).toEqual([]);
    const facts = sql.CommandGetSqlInfo.encode({ info: [0, 3, 8] }).finish();
    const found = (await of('CommandGetSqlInfo', Buffer.from(facts))) as { info_name: unknown }[];
    expect(found.map(({ info_name }) => Number(info_name))).toEqual([0, 3, 8]);
  });
});
