import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../test/serving.js';
import {
  bindService,
  type CallOptions,
  type ConnectOptions,
  connect,
  currentCall,
  InvalidRequestError,
  type ServeOptions,
  serve,
  withCallOptions,
} from './index.js';

const same = (value: Buffer) => value;
const down = {
  path: '/test.Down/Down',
  requestStream: false,
  responseStream: true,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
} as const;

type Down = (request: Buffer) => AsyncIterable<Buffer>;

async function serving(implementation: Down, options: ServeOptions = {}, client: ConnectOptions = {}) {
  const server = await serve([bindService({ down }, { down: implementation })], options);
  closeAfterTest(() => server.close(50));
  const { service, close } = connect({ down }, server.address, client);
  closeAfterTest(close);
  return { server, call: (text: string, perCall?: CallOptions) => service.down(Buffer.from(text), perCall) };
}

async function all(messages: AsyncIterable<Buffer>): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of messages) texts.push(String(message));
  return texts;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Says once its signal is aborted. */
function endless() {
  let say: (code: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    say = resolve;
  });
  const implementation: Down = async function* ticks() {
    const signal = currentCall()?.signal;
    signal?.addEventListener('abort', () => say((signal.reason as { code: string }).code));
    for (let i = 0; ; i++) {
      yield Buffer.from(String(i));
      await pause(10);
    }
  };
  return { implementation, ended };
}

describe('a client of a stream', () => {
  it('reads its messages, and tells whom the call is for', async () => {
    const { call } = await serving(async function* echo(request) {
      yield request;
      yield Buffer.from(currentCall()?.user ?? '');
    });
    expect(await all(call('a', { user: 'ann' }))).toEqual(['a', 'ann']);
    // Of where the call was made, not of where it is read.
    expect(await all(withCallOptions({ user: 'bob' }, () => call('b')))).toEqual(['b', 'bob']);
  });

  it('gets the typed error after what came before it, and tries nothing again', async () => {
    let calls = 0;
    const { call } = await serving(async function* fail() {
      calls++;
      yield Buffer.from('x');
      throw new InvalidRequestError('no more');
    });
    const messages = call('')[Symbol.asyncIterator]();
    expect(String((await messages.next()).value)).toBe('x');
    await expect(messages.next()).rejects.toThrow(InvalidRequestError);
    expect(calls).toBe(1);
  });

  it('ends the call when it stops reading, and when its signal is aborted', async () => {
    const first = endless();
    const one = await serving(first.implementation);
    for await (const message of one.call('')) if (String(message) === '2') break;
    expect(await first.ended).toBe('CANCELLED');
    const second = endless();
    const two = await serving(second.implementation);
    const stop = new AbortController();
    const reading = (async () => {
      for await (const message of two.call('', { signal: stop.signal }))
        if (String(message) === '2') stop.abort('enough');
    })();
    await expect(reading).rejects.toBe('enough');
    expect(await second.ended).toBe('CANCELLED');
  });

  it('has no deadline but one that was set', async () => {
    const { call } = await serving(async function* slow() {
      await pause(150);
      yield Buffer.from('x');
    });
    expect(await all(call(''))).toEqual(['x']);
    await expect(all(call('', { deadlineMs: 50 }))).rejects.toMatchObject({ code: 'DEADLINE' });
  });

  it('tries again what was not begun, and says that nobody is there', async () => {
    const { call, server } = await serving(
      async function* once() {
        await pause(100);
        yield Buffer.from('x');
      },
      { maxConcurrentStreams: 1, maxQueuedStreams: 0 },
      { retry: { initialDelayMs: 50, maxAttempts: 5 } },
    );
    expect(await Promise.all([all(call('')), all(call(''))])).toEqual([['x'], ['x']]);
    await server.close(50);
    await expect(all(call(''))).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });

  it('loses a stream whose server goes away', async () => {
    const { implementation } = endless();
    const { call, server } = await serving(implementation);
    const lost = expect(all(call(''))).rejects.toMatchObject({ kind: 'unavailable' });
    await pause(100);
    await server.close(0);
    await lost;
  });
});
