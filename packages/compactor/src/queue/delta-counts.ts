import type { AcidState } from '@skep/acid';
import type { Database, Tx } from '@skep/metadb';
import type { Logger } from '@skep/telemetry';
import { type Figure, type FigureSource, gauge, type Sample } from '@skep/telemetry/figure';

/** A table or partition. */
interface Resource {
  readonly database: string;
  readonly table: string;
  readonly partition?: string | undefined;
}

/** CMC_METRIC_TYPE (org.apache.hadoop.hive.metastore.txn.entities.CompactionMetricsData.MetricType). */
type DeltaKind = 'NUM_DELTAS' | 'NUM_SMALL_DELTAS' | 'NUM_OBSOLETE_DELTAS';

export interface DeltaCountOptions {
  readonly db: Database;
  /** metastore.deltametrics.delta.num.threshold: active and small deltas from here on are kept. */
  readonly deltaNumThreshold: number;
  /** metastore.deltametrics.obsolete.delta.num.threshold */
  readonly obsoleteDeltaNumThreshold: number;
  /** metastore.deltametrics.delta.pct.threshold: a delta below this share of the base is small. */
  readonly deltaPctThreshold: number;
  /** metastore.deltametrics.max.cache.size: of each kind the resources with the most are shown. */
  readonly maxShown: number;
  /** hive.compactor.{active,small,obsolete}.delta.dir.threshold: more are warned of. */
  readonly warnAbove: Readonly<Record<DeltaKind, number>>;
  readonly log: Logger;
}

const FIGURES: readonly (readonly [DeltaKind, string, Figure])[] = (
  [
    ['NUM_DELTAS', 'active', 'Delta folders that readers read'],
    ['NUM_SMALL_DELTAS', 'small', 'Delta folders that are small beside the base'],
    ['NUM_OBSOLETE_DELTAS', 'obsolete', 'Delta folders that compactions replaced and the Cleaner has not removed'],
  ] as const
).map(([kind, word, help]) => [
  kind,
  word,
  gauge(`compaction_num_${word}_deltas`, `${help}, of the tables and partitions that have the most.`, ['resource']),
]);

/** How many deltas a reader reads, and how many of them are small beside the base (DeltaFilesMetricReporter). Pure. */
export function countDeltas(state: AcidState, smallPct: number): { readonly active: number; readonly small: number } {
  const sizeOf = (files: readonly { readonly sizeBytes: number }[]) => files.reduce((sum, f) => sum + f.sizeBytes, 0);
  const baseBytes = sizeOf(state.base?.files ?? []) + sizeOf(state.originals);
  const small = state.deltas.filter(({ files }) => baseBytes > 0 && sizeOf(files) / baseBytes < smallPct);
  return { active: state.deltas.length, small: small.length };
}

/** Obsolete delta folders among paths. */
export const countObsoleteDeltas = (paths: readonly string[]): number =>
  paths.filter((path) => /(^|\/)(delete_)?delta_[^/]*$/.test(path)).length;

/**
 * COMPACTION_METRICS_CACHE: delta counts by table or partition, kept up by Initiator and Cleaner when they look at a folder,
 * and by the queue when a Worker has replaced what was active (org.apache.hadoop.hive.ql.txn.compactor.metrics.DeltaFilesMetricReporter).
 */
export class DeltaCounts implements FigureSource {
  readonly name = 'deltas';
  readonly figures = FIGURES.map(([, , figure]) => figure);

  constructor(private readonly options: DeltaCountOptions) {}

  /** What the Initiator found. */
  async found(resource: Resource, state: AcidState): Promise<void> {
    const { active, small } = countDeltas(state, this.options.deltaPctThreshold);
    await this.options.db.transaction(async (tx) => {
      await this.set(tx, resource, 'NUM_DELTAS', active);
      await this.set(tx, resource, 'NUM_SMALL_DELTAS', small);
      await this.set(tx, resource, 'NUM_OBSOLETE_DELTAS', countObsoleteDeltas(state.obsolete));
    }, VOLATILE);
  }

  /** A Worker replaced the active deltas: they wait for the Cleaner. */
  async compacted(resource: Resource): Promise<void> {
    await this.options.db.transaction(async (tx) => {
      const active = await countOf(tx, resource, 'NUM_DELTAS');
      const obsolete = await countOf(tx, resource, 'NUM_OBSOLETE_DELTAS');
      await this.set(tx, resource, 'NUM_OBSOLETE_DELTAS', active + obsolete);
      await this.set(tx, resource, 'NUM_DELTAS', 0);
      await this.set(tx, resource, 'NUM_SMALL_DELTAS', 0);
    }, VOLATILE);
  }

  /** What the Cleaner left. */
  async cleaned(resource: Resource, state: Pick<AcidState, 'deltas' | 'obsolete'>): Promise<void> {
    await this.options.db.transaction(async (tx) => {
      await this.set(tx, resource, 'NUM_OBSOLETE_DELTAS', countObsoleteDeltas(state.obsolete));
      await this.set(tx, resource, 'NUM_DELTAS', state.deltas.length);
    }, VOLATILE);
  }

  async read() {
    const { db, maxShown } = this.options;
    return await db.read(async (tx) => {
      const readings: [Figure, Sample[]][] = [];
      for (const [kind, , figure] of FIGURES) {
        const rows = await tx.all<{ DB: string; TBL: string; PART: string | null; N: bigint }>(
          `SELECT CMC_DATABASE AS DB, CMC_TABLE AS TBL, CMC_PARTITION AS PART, CMC_METRIC_VALUE AS N
            FROM COMPACTION_METRICS_CACHE WHERE CMC_METRIC_TYPE = ? ORDER BY CMC_METRIC_VALUE DESC LIMIT ?`,
          [kind, maxShown],
        );
        readings.push([
          figure,
          rows.map(({ DB, TBL, PART, N }) => ({
            labels: { resource: PART === null ? `${DB}.${TBL}` : `${DB}.${TBL}/${PART}` },
            value: Number(N),
          })),
        ]);
      }
      return readings;
    });
  }

  private async set(tx: Tx, resource: Resource, kind: DeltaKind, count: number): Promise<void> {
    const { deltaNumThreshold, obsoleteDeltaNumThreshold, warnAbove, log } = this.options;
    const before = await countOf(tx, resource, kind);
    const least = kind === 'NUM_OBSOLETE_DELTAS' ? obsoleteDeltaNumThreshold : deltaNumThreshold;
    const kept = count > 0 && count >= least ? count : 0;
    if (count > warnAbove[kind] && before <= warnAbove[kind]) {
      const word = FIGURES.find(([of]) => of === kind)?.[1];
      const table = `${resource.database}.${resource.table}`;
      log.warn({ table, partition: resource.partition, count }, `${table} has ${count} ${word} deltas`);
    }
    if (before === kept) return;
    const at = whereOf(tx, resource, kind);
    if (kept === 0) await tx.run(`DELETE FROM COMPACTION_METRICS_CACHE WHERE ${at.sql}`, at.params);
    else if (before > 0) {
      await tx.run(
        `UPDATE COMPACTION_METRICS_CACHE SET CMC_METRIC_VALUE = ?, CMC_VERSION = CMC_VERSION + 1 WHERE ${at.sql}`,
        [kept, ...at.params],
      );
    } else {
      await tx.run('INSERT INTO COMPACTION_METRICS_CACHE VALUES (?, ?, ?, ?, ?, 1)', [...at.params, kept]);
    }
  }
}

/** Figures: a power cut may take them back. */
const VOLATILE = { durable: false } as const;

function whereOf(tx: Tx, { database, table, partition }: Resource, kind: DeltaKind) {
  const same = tx.dialect.nullSafeEquals('CMC_PARTITION', '?');
  return {
    sql: `CMC_DATABASE = ? AND CMC_TABLE = ? AND ${same} AND CMC_METRIC_TYPE = ?`,
    params: [database, table, partition ?? null, kind],
  };
}

async function countOf(tx: Tx, resource: Resource, kind: DeltaKind): Promise<number> {
  const { sql, params } = whereOf(tx, resource, kind);
  const row = await tx.get<{ N: bigint | null }>(
    `SELECT MAX(CMC_METRIC_VALUE) AS N FROM COMPACTION_METRICS_CACHE WHERE ${sql}`,
    params,
  );
  return Number(row?.N ?? 0n);
}
