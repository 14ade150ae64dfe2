import { Writable } from 'node:stream';
import type { Clock } from '@skep/core';
import { describe, expect, it } from 'vitest';
import type { CliIo } from './io.js';
import { showProgress } from './progress.js';

/** A clock whose sleepers wake when the test says so. */
class SteppedClock implements Clock {
  private time = 0;
  private sleepers: { until: number; wake: () => void }[] = [];
  now(): number {
    return this.time;
  }
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.sleepers.push({ until: this.time + ms, wake: resolve });
    });
  }
  random(): number {
    return 0.5;
  }
  async advance(ms: number): Promise<void> {
    this.time += ms;
    const due = this.sleepers.filter(({ until }) => until <= this.time);
    this.sleepers = this.sleepers.filter(({ until }) => until > this.time);
    for (const { wake } of due) wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function terminal(isTTY: boolean): { io: CliIo; text: () => string } {
  let text = '';
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { io: { stderr: Object.assign(stderr, { isTTY }) } as unknown as CliIo, text: () => text };
}

describe('progress on a terminal', () => {
  it('is a line with time, rows and files after a second, and gone when the statement ends', async () => {
    const { io, text } = terminal(true);
    const clock = new SteppedClock();
    let rows = 0;
    const stop = showProgress(io, () => ({ rows, files: 3, ofFiles: 20 }), clock);
    await clock.advance(900);
    expect(text()).toBe('');
    rows = 1_234_567;
    await clock.advance(100);
    expect(text()).toContain('running 1.0 s, 1,234,567 rows read, file 3 of 20 (Ctrl-C stops the statement)');
    rows = 2_000_000;
    await clock.advance(500);
    expect(text()).toContain('running 1.5 s, 2,000,000 rows read');
    stop();
    expect(text().endsWith('\r\u001b[K')).toBe(true);
  });

  it('says only the time of a statement that scans nothing', async () => {
    const { io, text } = terminal(true);
    const clock = new SteppedClock();
    const stop = showProgress(io, () => ({ rows: 0, files: 0, ofFiles: 0 }), clock);
    await clock.advance(1000);
    stop();
    expect(text()).toContain('running 1.0 s (Ctrl-C stops the statement)');
  });

  it('is not written to a file', async () => {
    const { io, text } = terminal(false);
    const clock = new SteppedClock();
    const stop = showProgress(io, undefined, clock);
    await clock.advance(5000);
    stop();
    expect(text()).toBe('');
  });
});
