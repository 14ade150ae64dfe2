import { ManualClock, SkepError } from '@skep/core';
import { afterEach, describe, expect, it } from 'vitest';
import {
  callMetrics,
  createLogger,
  type Figure,
  type FigureSource,
  Metrics,
  type MetricsServer,
  type Sample,
  serveMetrics,
} from './index.js';

class LostError extends SkepError {}

describe('logs', () => {
  const lines: string[] = [];
  const log = () => {
    lines.length = 0;
    return createLogger({ now: () => 0, write: (line) => lines.push(line), fields: { service: 'locks' } });
  };
  const written = () => lines.map((line) => JSON.parse(line) as unknown);

  it('are one line of JSON each, with ids beyond 2^53 whole', () => {
    log().with({ txnId: 9007199254740993n }).warn({ lockId: 7n, table: undefined }, 'waits\nfor another');
    expect(lines).toHaveLength(1);
    expect(lines[0].endsWith('\n')).toBe(true);
    expect(written()).toEqual([
      {
        level: 'warn',
        time: '1970-01-01T00:00:00.000Z',
        service: 'locks',
        txnId: '9007199254740993',
        lockId: '7',
        message: 'waits\nfor another',
      },
    ]);
  });

  it('carry code and kind of errors, and the stack of bugs only', () => {
    const logger = log();
    logger.error({ error: new LostError('LOST', 'conflict', 'lost') }, 'a');
    logger.error({ error: new TypeError('oops') }, 'b');
    expect(written()).toMatchObject([{ error: { message: 'lost', code: 'LOST', kind: 'conflict' } }, { error: {} }]);
    expect(lines[0]).not.toContain('stack');
    expect(lines[1]).toContain('telemetry.test.ts');
  });

  it('leave out what is below their level', () => {
    log().debug({}, 'x');
    expect(lines).toEqual([]);
  });
});

describe('metrics', () => {
  const clock = new ManualClock();
  const open: Figure = { name: 'num_open_transactions', help: 'Open ones.', type: 'gauge' };
  const pools: Figure = { name: 'items', help: 'By pool.', type: 'counter', labels: ['pool'] };
  let samples: Sample[] = [];
  let reads = 0;
  const source: FigureSource = {
    name: 'transactions',
    figures: [open, pools],
    read: async () => {
      reads++;
      return [
        [open, [{ value: 3 }]],
        [pools, samples],
      ];
    },
  };
  let server: MetricsServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  it('are read when they are asked for, no more often than said, and forget what is gone', async () => {
    const metrics = new Metrics(clock);
    metrics.add(source, 1000, (error) => {
      throw error;
    });
    samples = [{ value: 5, labels: { pool: 'a' } }];
    const [first] = await Promise.all([metrics.text(), metrics.text()]);
    expect(reads).toBe(1);
    expect(first).toContain('num_open_transactions 3\n');
    expect(first).toContain('# TYPE items counter\nitems{pool="a"} 5\n');
    samples = [{ value: 6, labels: { pool: 'b' } }];
    expect(await metrics.text()).toContain('items{pool="a"} 5\n');
    clock.advance(1000);
    const later = await metrics.text();
    expect(later).toContain('items{pool="b"} 6\n');
    expect(later).not.toContain('pool="a"');
  });

  it('count readings that failed, and keep the last values', async () => {
    const metrics = new Metrics(clock);
    const heard: unknown[] = [];
    let fails = false;
    const read = () => (fails ? Promise.reject(new LostError('LOST', 'unavailable', 'no database')) : source.read());
    metrics.add({ ...source, read }, 0, (error) => heard.push(error));
    await metrics.text();
    fails = true;
    const text = await metrics.text();
    expect(text).toContain('skep_figures_failures_total{source="transactions"} 1\n');
    expect(text).toContain('num_open_transactions 3\n');
    expect(heard).toHaveLength(1);
  });

  it('of calls tell methods and outcomes apart, over HTTP', async () => {
    const metrics = new Metrics(clock);
    const record = callMetrics(metrics);
    record({ method: 'skep.v1.LockService/Lock', code: 'OK', durationMs: 3, queuedMs: 0 });
    record({ method: 'skep.v1.LockService/Lock', code: 'NO_SUCH_TXN', durationMs: 30, queuedMs: 20 });
    server = await serveMetrics(metrics, '127.0.0.1:0');
    const answer = await fetch(`http://${server.address}/metrics`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await answer.text();
    expect(text).toContain('skep_calls_total{method="skep.v1.LockService/Lock",code="NO_SUCH_TXN"} 1\n');
    expect(text).toContain('skep_call_duration_seconds_bucket{le="0.005",method="skep.v1.LockService/Lock"} 1\n');
    expect(text).toContain('process_resident_memory_bytes');
    expect((await fetch(`http://${server.address}/`)).status).toBe(404);
    await expect(serveMetrics(metrics, server.address)).rejects.toThrow(/cannot serve metrics on .*EADDRINUSE/);
    await expect(serveMetrics(metrics, 'nowhere')).rejects.toThrow('it is not HOST:PORT');
  });
});
