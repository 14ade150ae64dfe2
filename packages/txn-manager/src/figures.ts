import type { Database, Tx } from '@skep/metadb';
import { counter, type FigureSource, gauge, one, type Reading } from '@skep/telemetry/figure';

export interface TxnFigureOptions {
  /** `metastore.acidmetrics.table.aborted.txns.threshold`: tables with more aborted transactions are counted. */
  readonly abortedTxnsThreshold: number;
  /** `metastore.acidmetrics.ext.on`: also the totals since this process began. */
  readonly extended: boolean;
  /** What this process's TxnManager has counted. */
  readonly totals: () => TxnTotals;
}

/** Transactions that ended here since the process began. */
export interface TxnTotals {
  committed: number;
  aborted: number;
  timedOut: number;
}

const openAll = gauge('num_open_transactions', 'Open transactions.');
const openRepl = gauge('num_open_repl_transactions', 'Open transactions of replication.');
const openNonRepl = gauge('num_open_non_repl_transactions', 'Open transactions but for those of replication.');
const oldestReplId = gauge('oldest_open_repl_txn_id', 'Id of the oldest open transaction of replication.');
const oldestReplAge = gauge('oldest_open_repl_txn_age_in_sec', 'Age of the oldest open transaction of replication.');
const oldestNonReplId = gauge('oldest_open_non_repl_txn_id', 'Id of the oldest open transaction not of replication.');
const oldestNonReplAge = gauge('oldest_open_non_repl_txn_age_in_sec', 'Age of the oldest open one not of replication.');
const aborted = gauge('num_aborted_transactions', 'Aborted transactions whose files are not all gone.');
const oldestAbortedId = gauge('oldest_aborted_txn_id', 'Id of the oldest of them.');
const oldestAbortedAge = gauge('oldest_aborted_txn_age_in_sec', 'Time since the oldest of them was opened.');
const tablesWithAborts = gauge(
  'tables_with_x_aborted_transactions',
  'Tables and partitions with more aborted transactions than metastore.acidmetrics.table.aborted.txns.threshold.',
);
const writeIdRows = gauge('compaction_num_txn_to_writeid', 'Rows of TXN_TO_WRITE_ID.');
const completedRows = gauge('compaction_num_completed_txn_components', 'Rows of COMPLETED_TXN_COMPONENTS.');
const totalCommitted = counter('total_num_committed_transactions', 'Transactions that this process committed.');
const totalAborted = counter(
  'total_num_aborted_transactions',
  'Transactions that this process aborted, time-outs too.',
);
const totalTimedOut = counter(
  'total_num_timed_out_transactions',
  'Transactions that this process aborted for silence.',
);

/** TXN_TYPE of transactions that replication opened. */
const REPL_CREATED = 1;

/** Figures of open and aborted transactions, named as Hive's AcidMetricService names them. */
export function transactionFigures(db: Database, options: TxnFigureOptions): FigureSource {
  const extended = options.extended ? [totalCommitted, totalAborted, totalTimedOut] : [];
  return {
    name: 'transactions',
    figures: [
      openAll,
      openRepl,
      openNonRepl,
      oldestReplId,
      oldestReplAge,
      oldestNonReplId,
      oldestNonReplAge,
      aborted,
      oldestAbortedId,
      oldestAbortedAge,
      tablesWithAborts,
      writeIdRows,
      completedRows,
      ...extended,
    ],
    read: async () => {
      const readings = await db.read((tx) => readTables(tx, options.abortedTxnsThreshold));
      if (!options.extended) return readings;
      const totals = options.totals();
      return [
        ...readings,
        one(totalCommitted, totals.committed),
        one(totalAborted, totals.aborted),
        one(totalTimedOut, totals.timedOut),
      ];
    },
  };
}

async function readTables(tx: Tx, threshold: number): Promise<Reading[]> {
  const now = await tx.now();
  const group = async (where: string) => {
    const row = await tx.get<{ N: bigint; ID: bigint | null; STARTED: bigint | null }>(
      `SELECT COUNT(*) AS N, MIN(TXN_ID) AS ID, MIN(TXN_STARTED) AS STARTED FROM TXNS WHERE ${where}`,
    );
    return {
      count: Number(row?.N ?? 0n),
      id: Number(row?.ID ?? 0n),
      ageS: row?.STARTED == null ? 0 : Math.max(0, Number(now - row.STARTED) / 1000),
    };
  };
  const rowsOf = async (table: string) =>
    Number((await tx.get<{ N: bigint }>(`SELECT COUNT(*) AS N FROM ${table}`))?.N ?? 0n);
  const repl = await group(`TXN_STATE = 'o' AND TXN_TYPE = ${REPL_CREATED}`);
  const nonRepl = await group(`TXN_STATE = 'o' AND (TXN_TYPE IS NULL OR TXN_TYPE <> ${REPL_CREATED})`);
  const gone = await group("TXN_STATE = 'a'");
  const many = await tx.all(
    `SELECT TC_DATABASE FROM TXN_COMPONENTS JOIN TXNS ON TC_TXNID = TXN_ID WHERE TXN_STATE = 'a'
     GROUP BY TC_DATABASE, TC_TABLE, TC_PARTITION HAVING COUNT(DISTINCT TC_TXNID) > ?`,
    [threshold],
  );
  return [
    one(openAll, repl.count + nonRepl.count),
    one(openRepl, repl.count),
    one(openNonRepl, nonRepl.count),
    one(oldestReplId, repl.id),
    one(oldestReplAge, repl.ageS),
    one(oldestNonReplId, nonRepl.id),
    one(oldestNonReplAge, nonRepl.ageS),
    one(aborted, gone.count),
    one(oldestAbortedId, gone.id),
    one(oldestAbortedAge, gone.ageS),
    one(tablesWithAborts, many.length),
    one(writeIdRows, await rowsOf('TXN_TO_WRITE_ID')),
    one(completedRows, await rowsOf('COMPLETED_TXN_COMPONENTS')),
  ];
}
