import type { Database } from '@skep/metadb';
import { type FigureSource, gauge, one } from '@skep/telemetry/figure';

const locks = gauge('num_locks', 'Locks held or waited for, by component.');
const waiting = gauge('skep_locks_waiting', 'Those of them that are waited for.');
const oldest = gauge('oldest_lock_age_in_sec', 'Time since the oldest held lock was acquired; 0 if there is none.');

/** Figures of HIVE_LOCKS, named as Hive's AcidMetricService names them. */
export function lockFigures(db: Database): FigureSource {
  return {
    name: 'locks',
    figures: [locks, waiting, oldest],
    read: async () =>
      await db.read(async (tx) => {
        const now = await tx.now();
        const row = await tx.get<{ N: bigint; W: bigint | null; OLDEST: bigint | null }>(
          `SELECT COUNT(*) AS N, SUM(CASE WHEN HL_LOCK_STATE = 'w' THEN 1 ELSE 0 END) AS W,
             MIN(HL_ACQUIRED_AT) AS OLDEST FROM HIVE_LOCKS`,
        );
        const ageS = row?.OLDEST == null ? 0 : Math.max(0, Number(now - row.OLDEST) / 1000);
        return [one(locks, Number(row?.N ?? 0n)), one(waiting, Number(row?.W ?? 0n)), one(oldest, ageS)];
      }),
  };
}
