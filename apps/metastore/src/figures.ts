import { type CompactorMeter, compactionFigures, type DeltaCounts } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { lockFigures } from '@skep/lock-manager';
import type { Database } from '@skep/metadb';
import type { FigureSource } from '@skep/telemetry';
import { type TxnTotals, transactionFigures } from '@skep/txn-manager';
import type { ServiceName } from './service-names.js';
import type { WritesToDisabled } from './writes-to-disabled.js';

export interface FigureSources {
  readonly hosted: readonly ServiceName[];
  readonly db: Database;
  readonly conf: Configuration;
  /** Where transactions are here. */
  readonly totals: TxnTotals | undefined;
  readonly writes: WritesToDisabled;
  readonly meter: CompactorMeter;
  /** Where compaction is here. */
  readonly deltaCounts: DeltaCounts | undefined;
}

/** The figures of the services that live here (AcidMetricService, DeltaFilesMetricReporter). */
export function figuresOf({ hosted, db, conf, totals, writes, meter, deltaCounts }: FigureSources): FigureSource[] {
  if (!conf.getBoolean('metastore.acidmetrics.thread.on')) return [];
  const extended = conf.getBoolean('metastore.acidmetrics.ext.on');
  const options = {
    abortedTxnsThreshold: conf.getInt('metastore.acidmetrics.table.aborted.txns.threshold'),
    extended,
  };
  return [
    ...(totals === undefined ? [] : [transactionFigures(db, { ...options, totals: () => totals }), writes]),
    ...(hosted.includes('locks') ? [lockFigures(db)] : []),
    ...(hosted.includes('compaction') ? [compactionFigures(db), meter] : []),
    ...(deltaCounts !== undefined && extended ? [deltaCounts] : []),
  ];
}
