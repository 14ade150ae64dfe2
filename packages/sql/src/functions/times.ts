import type { TimestampValue } from '@skep/orc';
import { BIGINT, INTERVAL_DAY_TIME, TIMESTAMP } from '../types/hive-type.js';
import { convertArguments, customFunction, jsFunction, mismatch, result } from './builder.js';
import type { ScalarFunction } from './definition.js';

const NANOS_PER_SECOND = 1_000_000_000n;
const nanosOf = ({ seconds, nanos }: TimestampValue): bigint => seconds * NANOS_PER_SECOND + BigInt(nanos);

function timestampOf(nanos: bigint): TimestampValue {
  const rest = ((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  return { seconds: (nanos - rest) / NANOS_PER_SECOND, nanos: Number(rest) };
}

export const timeFunctions: readonly ScalarFunction[] = [
  jsFunction('date', 'to_epoch_milli', ['timestamp'], BIGINT, (t) => {
    const nanos = nanosOf(t as TimestampValue);
    const milli = nanos / 1_000_000n;
    return nanos < 0n && nanos % 1_000_000n !== 0n ? milli - 1n : milli;
  }),
  /** The start of the window of this length that the time falls into, windows counted from the origin (1970). */
  customFunction('date', 'tumbling_window', 'timestamp, interval, origin?', (call) => {
    const [time, length, origin] = convertArguments(call, ['timestamp', 'any', 'timestamp?']);
    if (length.type.kind !== 'interval_day_time') throw mismatch(call, length, 'an interval of days and time');
    const sql = call.analysis.udfs.call(
      'tumbling_window',
      [TIMESTAMP, INTERVAL_DAY_TIME, TIMESTAMP],
      TIMESTAMP,
      [time.sql, length.sql, origin?.sql ?? 'CAST(0 AS HUGEINT)'],
      (t, n, o) => {
        const [at, width, start] = [t, n, o].map((value) => nanosOf(value as TimestampValue));
        if (width <= 0n) return null;
        const rest = (at - start) % width;
        return timestampOf(at - (rest < 0n ? rest + width : rest));
      },
    );
    return result(call, TIMESTAMP, sql);
  }),
];
