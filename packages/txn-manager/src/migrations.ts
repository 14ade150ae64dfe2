import { createTables, insertFirst, type Migration, type TableDefinition } from '@skep/metadb';
import { forgottenTxns } from './forgotten.js';

/**
 * Hive 4's transaction tables, but for those of locks and compaction. `text`: follows the types of what users write.
 * Indexes that Hive does not have say so.
 */
function tables(text: string, longText: string, autoIncrement: string): TableDefinition[] {
  return [
    {
      name: 'TXNS',
      columns: `TXN_ID ${autoIncrement}, TXN_STATE char(1) NOT NULL, TXN_STARTED bigint NOT NULL,
        TXN_LAST_HEARTBEAT bigint NOT NULL, TXN_USER varchar(128)${text} NOT NULL, TXN_HOST varchar(128)${text} NOT NULL,
        TXN_AGENT_INFO varchar(128)${text}, TXN_META_INFO varchar(128)${text}, TXN_HEARTBEAT_COUNT integer, TXN_TYPE integer`,
      // Ours: snapshots are taken from the index alone.
      indexes: [{ name: 'TXNS_STATE_INDEX', on: 'TXN_STATE, TXN_ID, TXN_TYPE', isOurs: true }],
    },
    {
      name: 'TXN_COMPONENTS',
      columns: `TC_TXNID bigint NOT NULL, TC_DATABASE varchar(128) NOT NULL, TC_TABLE varchar(256),
        TC_PARTITION varchar(767)${text}, TC_OPERATION_TYPE char(1) NOT NULL, TC_WRITEID bigint,
        FOREIGN KEY (TC_TXNID) REFERENCES TXNS (TXN_ID)`,
      indexes: [{ name: 'TC_TXNID_INDEX', on: 'TC_TXNID' }],
    },
    {
      name: 'COMPLETED_TXN_COMPONENTS',
      columns: `CTC_TXNID bigint NOT NULL, CTC_DATABASE varchar(128) NOT NULL, CTC_TABLE varchar(256),
        CTC_PARTITION varchar(767)${text}, CTC_TIMESTAMP timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, CTC_WRITEID bigint,
        CTC_UPDATE_DELETE char(1) NOT NULL`,
      indexes: [{ name: 'COMPLETED_TXN_COMPONENTS_IDX', on: 'CTC_DATABASE, CTC_TABLE, CTC_PARTITION(600)' }],
    },
    { name: 'TXN_LOCK_TBL', columns: 'TXN_LOCK bigint NOT NULL' },
    {
      name: 'TXN_TO_WRITE_ID',
      columns: `T2W_TXNID bigint NOT NULL, T2W_DATABASE varchar(128) NOT NULL, T2W_TABLE varchar(256) NOT NULL,
        T2W_WRITEID bigint NOT NULL`,
      indexes: [
        { name: 'TBL_TO_TXN_ID_IDX', on: 'T2W_DATABASE, T2W_TABLE, T2W_TXNID', unique: true },
        { name: 'TBL_TO_WRITE_ID_IDX', on: 'T2W_DATABASE, T2W_TABLE, T2W_WRITEID', unique: true },
      ],
    },
    {
      name: 'NEXT_WRITE_ID',
      columns: 'NWI_DATABASE varchar(128) NOT NULL, NWI_TABLE varchar(256) NOT NULL, NWI_NEXT bigint NOT NULL',
      indexes: [{ name: 'NEXT_WRITE_ID_IDX', on: 'NWI_DATABASE, NWI_TABLE', unique: true }],
    },
    {
      name: 'MIN_HISTORY_LEVEL',
      columns: 'MHL_TXNID bigint NOT NULL, MHL_MIN_OPEN_TXNID bigint NOT NULL, PRIMARY KEY (MHL_TXNID)',
      indexes: [{ name: 'MIN_HISTORY_LEVEL_IDX', on: 'MHL_MIN_OPEN_TXNID' }],
    },
    {
      name: 'MIN_HISTORY_WRITE_ID',
      columns: `MH_TXNID bigint NOT NULL, MH_DATABASE varchar(128) NOT NULL, MH_TABLE varchar(256) NOT NULL,
        MH_WRITEID bigint NOT NULL, FOREIGN KEY (MH_TXNID) REFERENCES TXNS (TXN_ID)`,
    },
    {
      name: 'WRITE_SET',
      columns: `WS_DATABASE varchar(128) NOT NULL, WS_TABLE varchar(256) NOT NULL, WS_PARTITION varchar(767)${text},
        WS_TXNID bigint NOT NULL, WS_COMMIT_ID bigint NOT NULL, WS_OPERATION_TYPE char(1) NOT NULL`,
      // Ours.
      indexes: [{ name: 'WRITE_SET_TABLE_INDEX', on: 'WS_DATABASE, WS_TABLE', isOurs: true }],
    },
    {
      name: 'AUX_TABLE',
      columns: `MT_KEY1 varchar(128) NOT NULL, MT_KEY2 bigint NOT NULL, MT_COMMENT varchar(255),
        PRIMARY KEY (MT_KEY1, MT_KEY2)`,
    },
    {
      name: 'MATERIALIZATION_REBUILD_LOCKS',
      columns: `MRL_TXN_ID bigint NOT NULL, MRL_DB_NAME varchar(128) NOT NULL, MRL_TBL_NAME varchar(256) NOT NULL,
        MRL_LAST_HEARTBEAT bigint NOT NULL, PRIMARY KEY (MRL_TXN_ID)`,
    },
    {
      name: 'REPL_TXN_MAP',
      columns: `RTM_REPL_POLICY varchar(256) NOT NULL, RTM_SRC_TXN_ID bigint NOT NULL, RTM_TARGET_TXN_ID bigint NOT NULL,
        PRIMARY KEY (RTM_REPL_POLICY, RTM_SRC_TXN_ID)`,
    },
    {
      name: 'TXN_WRITE_NOTIFICATION_LOG',
      columns: `WNL_ID bigint NOT NULL, WNL_TXNID bigint NOT NULL, WNL_WRITEID bigint NOT NULL,
        WNL_DATABASE varchar(128) NOT NULL, WNL_TABLE varchar(256) NOT NULL, WNL_PARTITION varchar(767)${text} NOT NULL,
        WNL_TABLE_OBJ ${longText}${text} NOT NULL, WNL_PARTITION_OBJ ${longText}${text}, WNL_FILES ${longText}${text},
        WNL_EVENT_TIME integer NOT NULL`,
      indexes: [
        {
          name: 'TXN_WRITE_NOTIFICATION_IDX',
          on: 'WNL_TXNID, WNL_DATABASE, WNL_TABLE, WNL_PARTITION(600)',
          unique: true,
        },
      ],
    },
  ];
}

const transactionTables: Migration = {
  id: 'txn-manager/001-transaction-tables',
  async up(tx) {
    const { text, longText, autoIncrement } = tx.dialect;
    await createTables(tx, tables(text, longText, autoIncrement));
    const seed = { TXN_ID: 0, TXN_STATE: 'c', TXN_STARTED: 0, TXN_LAST_HEARTBEAT: 0, TXN_USER: '', TXN_HOST: '' };
    await insertFirst(tx, 'TXNS', seed);
    await insertFirst(tx, 'TXN_LOCK_TBL', { TXN_LOCK: 1 });
  },
};

/**
 * The mutexes of Hive's services (TxnStore.MUTEX_KEY). Hive adds each when it first wants it: its Initiator holds one, under
 * REPEATABLE READ with the gap beside it, while it adds the next, and waits for itself until the database gives up.
 */
const hiveMutexes: Migration = {
  id: 'txn-manager/003-hive-mutexes',
  async up(tx) {
    for (const key of [
      'Cleaner',
      'CompactionScheduler',
      'HouseKeeper',
      'Initiator',
      'MaterializationRebuild',
      'TxnCleaner',
    ]) {
      const known = await tx.all('SELECT MT_KEY2 FROM AUX_TABLE WHERE MT_KEY1 = ?', [key]);
      if (known.length === 0) await tx.run('INSERT INTO AUX_TABLE (MT_KEY1, MT_KEY2) VALUES (?, 0)', [key]);
    }
  },
};

export const txnMigrations: readonly Migration[] = [transactionTables, forgottenTxns, hiveMutexes];
