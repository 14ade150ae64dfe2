import { type CompactorMeter, compactionFigures, type DeltaCounts } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { lockFigures } from '@skep/lock-manager';
import type { Database } from '@skep/metadb';
import { type FigureSource, gauge, one } from '@skep/telemetry/figure';
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

const connections = gauge('skep_database_connections', 'Connections to the metastore database, by state.', ['state']);
const mostConnections = gauge(
  'skep_database_connections_max',
  'As many connections to the metastore database as there may be.',
);
const waiting = gauge('skep_database_waiting', 'Transactions of the metastore database that wait for a connection.');

function databaseFigures(db: Database): FigureSource {
  return {
    name: 'database',
    figures: [connections, mostConnections, waiting],
    read: async () => {
      const load = db.load();
      const states = [
        { labels: { state: 'idle' }, value: load.idle },
        { labels: { state: 'busy' }, value: load.open - load.idle },
      ];
      return [[connections, states], one(mostConnections, load.most), one(waiting, load.waiting)];
    },
  };
}

/** The figures of the services that live here (AcidMetricService, DeltaFilesMetricReporter). */
export function figuresOf({ hosted, db, conf, totals, writes, meter, deltaCounts }: FigureSources): FigureSource[] {
  if (!conf.getBoolean('metastore.acidmetrics.thread.on')) return [databaseFigures(db)];
  const extended = conf.getBoolean('metastore.acidmetrics.ext.on');
  const options = {
    abortedTxnsThreshold: conf.getInt('metastore.acidmetrics.table.aborted.txns.threshold'),
    extended,
  };
  return [
    databaseFigures(db),
    ...(totals === undefined ? [] : [transactionFigures(db, { ...options, totals: () => totals }), writes]),
    ...(hosted.includes('locks') ? [lockFigures(db)] : []),
    ...(hosted.includes('compaction')
      ? [compactionFigures(db, conf.getTimeMs('metastore.compactor.worker.detect.multiple.versions.threshold')), meter]
      : []),
    ...(deltaCounts !== undefined && extended ? [deltaCounts] : []),
  ];
}
