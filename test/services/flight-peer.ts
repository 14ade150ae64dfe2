// A client of Arrow Flight to be killed, or to be slow: node flight-peer.mjs ADDRESS put|get JSON. `put` sends batches for ever, a line a
// batch; `get` opens so many streams of a table's first split and reads a message of each, then reads on when it is told to.
import { createInterface } from 'node:readline';
import * as grpc from '@grpc/grpc-js';
import { batchMessage, schemaMessage, toArrowSchema, toRecordBatch } from '@skep/flight';
import { parseType, type StructVector, vectorOf } from '@skep/orc';
import {
  type FlightData,
  FlightDescriptor_DescriptorType,
  type FlightInfo,
  FlightServiceService,
} from '../../packages/flight/src/gen/flight.js';

interface Orders {
  readonly command: object;
  /** put: rows of each batch; how long the call may take. */
  readonly rows?: number;
  readonly deadlineMs?: number;
  /** get: streams. */
  readonly streams?: number;
}

const [address, what, text] = process.argv.slice(2);
const orders = JSON.parse(text) as Orders;
const client = new grpc.Client(address, grpc.credentials.createInsecure());
const say = (line: string) => void process.stdout.write(`${line}\n`);
const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const descriptor = {
  type: FlightDescriptor_DescriptorType.CMD,
  cmd: Buffer.from(JSON.stringify(orders.command)),
  path: [],
};

if (what === 'put') await put();
else await get();

async function put(): Promise<void> {
  const { rows = 10_000, deadlineMs } = orders;
  const type = parseType('struct<id:int,s:string>');
  const schema = toArrowSchema(type);
  const values = Array.from({ length: rows }, (_, id) => ({ id, s: `${id}`.repeat(20) }));
  const { header, body } = batchMessage(toRecordBatch(schema, vectorOf(type, values) as StructVector));
  const { path, requestSerialize, responseDeserialize } = FlightServiceService.doPut;
  const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, new grpc.Metadata(), options);
  let isOver = false;
  call.on('error', (error: grpc.ServiceError) => {
    isOver = true;
    say(`error ${error.code}`);
    process.exit();
  });
  call.on('data', () => {});
  const send = (data: Partial<FlightData>) =>
    new Promise<void>((resolve) => {
      const empty = { dataHeader: Buffer.alloc(0), appMetadata: Buffer.alloc(0), dataBody: Buffer.alloc(0) };
      if (call.write({ ...empty, ...data })) resolve();
      else call.once('drain', resolve);
    });
  await send({ flightDescriptor: descriptor, dataHeader: asBuffer(schemaMessage(schema).header) });
  for (let sent = 1; !isOver; sent++) {
    await send({ dataHeader: asBuffer(header), dataBody: asBuffer(body) });
    say(`sent ${sent}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function get(): Promise<void> {
  const { getFlightInfo, doGet } = FlightServiceService;
  const info = await new Promise<FlightInfo>((resolve, reject) => {
    client.makeUnaryRequest(
      getFlightInfo.path,
      getFlightInfo.requestSerialize,
      getFlightInfo.responseDeserialize,
      descriptor,
      (error, answer) => (answer === undefined ? reject(error) : resolve(answer)),
    );
  });
  const ticket = info.endpoint[0].ticket ?? { ticket: Buffer.alloc(0) };
  const iterators = Array.from({ length: orders.streams ?? 1 }, () => {
    const call = client.makeServerStreamRequest(doGet.path, doGet.requestSerialize, doGet.responseDeserialize, ticket);
    return call[Symbol.asyncIterator]() as AsyncIterator<FlightData>;
  });
  for (const iterator of iterators) await iterator.next();
  say(`open ${JSON.parse(String(info.appMetadata)).txnId}`);
  for await (const _ of createInterface({ input: process.stdin })) break;
  // In the order in which they were opened, as a client does that asks for many and takes one after the other.
  const bytes: number[] = [];
  for (const iterator of iterators) {
    let sum = 0;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
      sum += step.value.dataBody.length;
    }
    bytes.push(sum);
  }
  say(`read ${JSON.stringify([...new Set(bytes)])} of ${bytes.length}`);
  process.exit();
}
