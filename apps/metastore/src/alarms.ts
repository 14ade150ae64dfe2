import type { Configuration } from '@skep/config';
import { type Clock, idle } from '@skep/core';
import type { FigureSource, Logger } from '@skep/telemetry';

export type AlarmLevel = 'warn' | 'error';

/** A figure beyond its level. */
export interface Alarm {
  readonly figure: string;
  readonly level: AlarmLevel;
  readonly value: number;
  /** The parameter whose level it is, and what that is. */
  readonly parameter: string;
  readonly limit: number;
  readonly message: string;
  /** The transaction it is about. */
  readonly txnId?: string;
}

/** Values of figures without labels, by name; undefined: not read here. */
export type FigureValues = (name: string) => number | undefined;

interface Rule {
  readonly figure: string;
  /** The parameter of each level that it has, the worst first. */
  readonly levels: readonly (readonly [AlarmLevel, string])[];
  readonly type: 'time' | 'number';
  /** The level itself is no alarm yet. */
  readonly isAbove?: boolean;
  /** The level, where the parameter is something else. */
  readonly limit?: number;
  /** Default: the figure. */
  readonly derive?: (values: FigureValues) => number | undefined;
  /** The figure that has the transaction's id. */
  readonly txnIdIn?: string;
  readonly says: string;
}

/** The checks of org.apache.hadoop.hive.metastore.metrics.AcidMetricLogger and of the Initiator's duration. */
const RULES: readonly Rule[] = [
  {
    figure: 'oldest_open_non_repl_txn_age_in_sec',
    levels: [
      ['error', 'hive.compactor.oldest.open.txn.threshold.error'],
      ['warn', 'hive.compactor.oldest.open.txn.threshold.warning'],
    ],
    type: 'time',
    txnIdIn: 'oldest_open_non_repl_txn_id',
    says: 'a transaction has been open for too long: files that were replaced since it began cannot be removed',
  },
  {
    figure: 'oldest_open_repl_txn_age_in_sec',
    levels: [
      ['error', 'hive.compactor.oldest.replication.open.txn.threshold.error'],
      ['warn', 'hive.compactor.oldest.replication.open.txn.threshold.warning'],
    ],
    type: 'time',
    txnIdIn: 'oldest_open_repl_txn_id',
    says: 'a transaction of replication has been open for too long: hive.repl.txn.timeout ends it, or whoever replicates',
  },
  {
    figure: 'oldest_aborted_txn_age_in_sec',
    levels: [
      ['error', 'hive.compactor.oldest.uncleaned.aborted.txn.time.threshold.error'],
      ['warn', 'hive.compactor.oldest.uncleaned.aborted.txn.time.threshold.warning'],
    ],
    type: 'time',
    txnIdIn: 'oldest_aborted_txn_id',
    says: 'an aborted transaction has not been cleaned up after for too long: does a Cleaner run?',
  },
  {
    figure: 'compaction_oldest_enqueue_age_in_sec',
    levels: [
      ['error', 'hive.compactor.oldest.initiated.compaction.time.threshold.error'],
      ['warn', 'hive.compactor.oldest.initiated.compaction.time.threshold.warning'],
    ],
    type: 'time',
    says: 'a compaction waits for a Worker for too long: do enough Workers run for its pool?',
  },
  {
    figure: 'compaction_initiator_cycle_duration',
    levels: [
      ['error', 'hive.compactor.long.running.initiator.threshold.error'],
      ['warn', 'hive.compactor.long.running.initiator.threshold.warning'],
    ],
    type: 'time',
    says: 'a cycle of the Initiator takes too long',
  },
  {
    figure: 'compaction_num_completed_txn_components',
    levels: [
      ['error', 'hive.compactor.completed.txn.components.record.threshold.error'],
      ['warn', 'hive.compactor.completed.txn.components.record.threshold.warning'],
    ],
    type: 'number',
    says: 'COMPLETED_TXN_COMPONENTS has too many rows: do housekeepers and compactions run?',
  },
  {
    figure: 'compaction_num_txn_to_writeid',
    levels: [
      ['error', 'hive.compactor.txn.to.writeid.record.threshold.error'],
      ['warn', 'hive.compactor.txn.to.writeid.record.threshold.warning'],
    ],
    type: 'number',
    says: 'TXN_TO_WRITE_ID has too many rows: an old transaction, open or aborted, keeps them',
  },
  {
    figure: 'tables_with_x_aborted_transactions',
    levels: [['error', 'hive.compactor.tables.with.aborted.txn.threshold']],
    type: 'number',
    isAbove: true,
    says: 'too many tables or partitions have very many aborted transactions: does a Cleaner run?',
  },
  {
    figure: 'oldest_ready_for_cleaning_age_in_sec',
    levels: [['warn', 'hive.compactor.oldest.uncleaned.compaction.time.threshold']],
    type: 'time',
    isAbove: true,
    says: 'a compaction waits for the Cleaner for too long: `skep why compaction` says for whom',
  },
  {
    figure: 'compaction_num_failed',
    levels: [['warn', 'hive.compactor.failed.compaction.ratio.threshold']],
    type: 'number',
    derive: failedRatio,
    says: 'too many compactions fail: SHOW COMPACTIONS says why',
  },
  {
    figure: 'num_writes_to_disabled_compaction_table',
    levels: [['warn', 'hive.compactor.number.of.disabled.compaction.tables.threshold']],
    type: 'number',
    says: 'tables are written that no_auto_compaction keeps from being compacted',
  },
  {
    figure: 'skep_compaction_late_worker_versions',
    levels: [['warn', 'metastore.compactor.worker.detect.multiple.versions.threshold']],
    type: 'number',
    isAbove: true,
    limit: 1,
    says: 'Workers of several versions carry out compactions',
  },
];

/** Of the tables and partitions whose newest compaction has ended, the share that failed or was not queued. */
function failedRatio(values: FigureValues): number | undefined {
  const failed = values('compaction_num_failed');
  if (failed === undefined) return undefined;
  const bad = failed + (values('compaction_num_did_not_initiate') ?? 0);
  const all = bad + (values('compaction_num_succeeded') ?? 0);
  return all === 0 ? 0 : bad / all;
}

/** The figures that are beyond a level of theirs. Pure. */
export function alarmsOf(values: FigureValues, conf: Pick<Configuration, 'getTimeMs' | 'getFloat'>): Alarm[] {
  return RULES.flatMap((rule) => {
    const value = rule.derive === undefined ? values(rule.figure) : rule.derive(values);
    if (value === undefined) return [];
    for (const [level, parameter] of rule.levels) {
      const limit = rule.limit ?? (rule.type === 'time' ? conf.getTimeMs(parameter) / 1000 : conf.getFloat(parameter));
      if (!(rule.isAbove === true ? value > limit : value >= limit)) continue;
      const id = rule.txnIdIn === undefined ? undefined : values(rule.txnIdIn);
      const about = id === undefined ? {} : { txnId: String(id) };
      return [{ figure: rule.figure, level, value, parameter, limit, message: rule.says, ...about }];
    }
    return [];
  });
}

export interface AlarmOptions {
  readonly figures: readonly FigureSource[];
  readonly conf: Configuration;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Known {
  readonly level: AlarmLevel;
  readonly toldMs: number;
}

/**
 * Tells of figures beyond their levels: when they get there, every hive.compactor.acid.metrics.logger.frequency while they are,
 * and when they are no more.
 */
export class Alarms {
  private readonly known = new Map<string, Known>();

  constructor(private readonly options: AlarmOptions) {}

  /** Looks at all figures once. */
  async look(): Promise<void> {
    const { conf, clock, log } = this.options;
    const values = await this.read();
    const againMs = conf.getTimeMs('hive.compactor.acid.metrics.logger.frequency');
    const now = clock.now();
    const alarms = alarmsOf((name) => values.get(name), conf);
    for (const alarm of alarms) {
      const before = this.known.get(alarm.figure);
      if (before?.level === alarm.level && now - before.toldMs < againMs) continue;
      const { level, message, ...fields } = alarm;
      log[level](fields, message);
      this.known.set(alarm.figure, { level, toldMs: now });
    }
    for (const figure of [...this.known.keys()]) {
      // What could not be read now is as it was.
      if (!values.has(figure) || alarms.some((alarm) => alarm.figure === figure)) continue;
      this.known.delete(figure);
      log.info({ figure, value: values.get(figure) }, `${figure} is below its levels again`);
    }
  }

  private async read(): Promise<Map<string, number>> {
    const values = new Map<string, number>();
    for (const source of this.options.figures) {
      try {
        for (const [{ name, labels = [] }, samples] of await source.read()) {
          if (labels.length === 0 && samples.length > 0) values.set(name, samples[0].value);
        }
      } catch (error) {
        this.options.log.warn({ source: source.name, error }, 'figures could not be read');
      }
    }
    return values;
  }
}

/** Figures are queries over whole tables. */
const LEAST_REST_MS = 1000;

/** Looks every metastore.acidmetrics.check.interval, until the returned function is called. */
export function startAlarms(options: AlarmOptions): () => Promise<void> {
  const { conf } = options;
  const isOff =
    conf.getTimeMs('hive.compactor.acid.metrics.logger.frequency') <= 0 ||
    !conf.getBoolean('metastore.acidmetrics.thread.on');
  if (isOff) return async () => {};
  const stop = new AbortController();
  const everyMs = Math.max(LEAST_REST_MS, conf.getTimeMs('metastore.acidmetrics.check.interval'));
  const loop = keepLooking(new Alarms(options), everyMs, stop.signal);
  return async () => {
    stop.abort();
    await loop;
  };
}

async function keepLooking(alarms: Alarms, everyMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    await idle(everyMs, signal);
    if (signal.aborted) return;
    await alarms.look();
  }
}
