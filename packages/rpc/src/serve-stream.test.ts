import * as grpc from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../test/serving.js';
import { InvalidRequestError } from './errors.js';
import { bindService, currentCall, type ServeOptions, serve } from './index.js';
import { readDetail, STATUS_DETAILS } from './status.js';

const bytes = { serialize: (value: Buffer) => value, deserialize: (value: Buffer) => value };
const method = <Q extends boolean, R extends boolean>(name: string, requestStream: Q, responseStream: R) => ({
  path: `/test.Streams/${name}`,
  requestStream,
  responseStream,
  requestSerialize: bytes.serialize,
  requestDeserialize: bytes.deserialize,
  responseSerialize: bytes.serialize,
  responseDeserialize: bytes.deserialize,
});
const definition = {
  down: method('Down', false, true),
  up: method('Up', true, false),
  both: method('Both', true, true),
};

interface Methods {
  down(request: Buffer): AsyncIterable<Buffer>;
  up(requests: AsyncIterable<Buffer>): Promise<Buffer>;
  both(requests: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
}

const nothing: Methods = {
  async *down() {},
  up: async () => Buffer.alloc(0),
  async *both() {},
};

async function streams(methods: Partial<Methods>, options: ServeOptions = {}) {
  const server = await serve([bindService(definition, { ...nothing, ...methods })], options);
  closeAfterTest(() => server.close(50));
  const client = new grpc.Client(server.address, grpc.credentials.createInsecure());
  closeAfterTest(() => client.close());
  return {
    down: () =>
      client.makeServerStreamRequest(definition.down.path, bytes.serialize, bytes.deserialize, Buffer.alloc(0)),
    both: () => client.makeBidiStreamRequest(definition.both.path, bytes.serialize, bytes.deserialize),
    up: (answer: grpc.requestCallback<Buffer>) =>
      client.makeClientStreamRequest(definition.up.path, bytes.serialize, bytes.deserialize, answer),
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function all(call: AsyncIterable<Buffer>): Promise<string[]> {
  const messages: string[] = [];
  for await (const message of call) messages.push(String(message));
  return messages;
}

describe('methods with streams', () => {
  it('of each form', async () => {
    const client = await streams({
      async *down() {
        yield Buffer.from('a');
        yield Buffer.from('b');
      },
      up: async (requests) => Buffer.from((await all(requests)).join('+')),
      async *both(requests) {
        for await (const request of requests) yield Buffer.from(`${request}!`);
      },
    });
    expect(await all(client.down())).toEqual(['a', 'b']);
    const answer = await new Promise((resolve, reject) => {
      const call = client.up((error, value) => (error ? reject(error) : resolve(String(value))));
      call.write(Buffer.from('x'));
      call.end(Buffer.from('y'));
    });
    expect(answer).toBe('x+y');
    const both = client.both();
    both.write(Buffer.from('1'));
    both.end(Buffer.from('2'));
    expect(await all(both)).toEqual(['1!', '2!']);
  });

  it('make no more than a slow client takes', async () => {
    const size = 1 << 20;
    const most = 64;
    let made = 0;
    const client = await streams({
      async *down() {
        for (; made < most; made++) yield Buffer.alloc(size);
      },
    });
    const call = client.down();
    let taken = 0;
    let worst = 0;
    for await (const _ of call) {
      taken++;
      // grpc-js's client itself reads up to 16 messages ahead.
      if (taken === 1) await pause(500);
      worst = Math.max(worst, made - taken);
    }
    expect(taken).toBe(most);
    expect(worst).toBeLessThan(24);
  });

  it('end with the typed error of what failed, after what was sent', async () => {
    const client = await streams({
      async *down() {
        yield Buffer.from('a');
        throw new InvalidRequestError('no more');
      },
    });
    const messages: string[] = [];
    const failure = await (async () => {
      for await (const message of client.down()) messages.push(String(message));
      return undefined;
    })().catch((error: grpc.ServiceError) => error);
    expect(messages).toEqual(['a']);
    expect(failure?.code).toBe(grpc.status.INVALID_ARGUMENT);
    const [details] = failure?.metadata.get(STATUS_DETAILS) ?? [];
    expect(readDetail(details as Buffer)?.code).toBe('INVALID_REQUEST');
  });

  it('tell a client that is gone from one that has sent all', async () => {
    let outcome: Promise<unknown> = Promise.resolve();
    const client = await streams({
      async *both(requests) {
        outcome = all(requests).then(
          () => 'all',
          (error) => (error as { code: string }).code,
        );
        yield Buffer.from(String(await outcome));
      },
    });
    const call = client.both();
    call.on('error', () => undefined);
    call.write(Buffer.from('1'));
    await pause(300);
    call.cancel();
    await pause(300);
    expect(await outcome).toBe('CANCELLED');
  });

  it('last longer than other calls may, but not with a client that rests', async () => {
    let code = '';
    const client = await streams(
      {
        async *down() {
          for (let i = 0; i < 5; i++) {
            await pause(40);
            yield Buffer.from(String(i));
          }
        },
        async *both(requests) {
          yield Buffer.from((await all(requests)).join());
        },
      },
      { maxCallMs: 50, maxStreamIdleMs: 150, onCall: (call) => (code = call.code) },
    );
    expect(await all(client.down())).toHaveLength(5);
    expect(code).toBe('OK');
    await expect(all(client.both())).rejects.toMatchObject({ code: grpc.status.DEADLINE_EXCEEDED });
  });

  it('queue beyond their limit, apart from other calls', async () => {
    let running = 0;
    let most = 0;
    const client = await streams(
      {
        async *down() {
          most = Math.max(most, ++running);
          expect(currentCall()?.method).toBe('test.Streams/Down');
          await pause(10);
          yield Buffer.from('x');
          running--;
        },
      },
      { maxConcurrentStreams: 3 },
    );
    const answers = await Promise.all(Array.from({ length: 20 }, () => all(client.down())));
    expect(answers.every(([message]) => message === 'x')).toBe(true);
    expect(most).toBe(3);
  });
});
