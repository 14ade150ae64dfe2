import { type Clock, systemClock } from '@skep/core';
import type { ProgressFigures } from '@skep/sql';
import type { CliIo } from './io.js';

/** Long statements show after this time that they run. */
const QUIET_MS = 1000;
const STEP_MS = 500;

/** Shows on a terminal how long a statement has been running and what it has read, until the returned function is called. */
export function showProgress(
  io: CliIo,
  figures: () => ProgressFigures | undefined = () => undefined,
  clock: Clock = systemClock,
): () => void {
  if (io.stderr.isTTY !== true) return () => {};
  const stop = new AbortController();
  const start = clock.now();
  let shown = false;
  const run = async (): Promise<void> => {
    await clock.sleep(QUIET_MS, stop.signal);
    for (;;) {
      shown = true;
      io.stderr.write(`\r\u001b[K${progressLine((clock.now() - start) / 1000, figures())}`);
      await clock.sleep(STEP_MS, stop.signal);
    }
  };
  // It ends only by being stopped.
  run().catch(() => undefined);
  return () => {
    stop.abort();
    if (shown) io.stderr.write('\r\u001b[K');
  };
}

function progressLine(seconds: number, figures: ProgressFigures | undefined): string {
  const read =
    figures === undefined || figures.ofFiles === 0
      ? ''
      : `, ${figures.rows.toLocaleString('en')} rows read, file ${figures.files} of ${figures.ofFiles}`;
  return `running ${seconds.toFixed(1)} s${read} (Ctrl-C stops the statement)`;
}
