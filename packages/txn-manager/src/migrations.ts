import type { Migration } from '@skep/metadb';

/** Hive 4's transaction tables, but for those of locks and compaction. */
const transactionTables: Migration = {
  id: 'txn-manager/001-transaction-tables',
  async up(tx) {
    await tx.build((knex) =>
      knex.schema
        .createTable('TXNS', (t) => {
          t.bigIncrements('TXN_ID');
          t.specificType('TXN_STATE', 'char(1)').notNullable();
          t.bigInteger('TXN_STARTED').notNullable();
          t.bigInteger('TXN_LAST_HEARTBEAT').notNullable();
          t.string('TXN_USER', 128).notNullable();
          t.string('TXN_HOST', 128).notNullable();
          t.string('TXN_AGENT_INFO', 128);
          t.string('TXN_META_INFO', 128);
          t.integer('TXN_HEARTBEAT_COUNT');
          t.integer('TXN_TYPE');
          // Snapshots are taken from the index alone.
          t.index(['TXN_STATE', 'TXN_ID', 'TXN_TYPE'], 'TXNS_STATE_INDEX');
        })
        .createTable('TXN_COMPONENTS', (t) => {
          t.bigInteger('TC_TXNID').notNullable().references('TXN_ID').inTable('TXNS');
          t.string('TC_DATABASE', 128).notNullable();
          t.string('TC_TABLE', 256);
          t.string('TC_PARTITION', 767);
          t.specificType('TC_OPERATION_TYPE', 'char(1)').notNullable();
          t.bigInteger('TC_WRITEID');
          t.index(['TC_TXNID'], 'TC_TXNID_INDEX');
        })
        .createTable('COMPLETED_TXN_COMPONENTS', (t) => {
          t.bigInteger('CTC_TXNID').notNullable();
          t.string('CTC_DATABASE', 128).notNullable();
          t.string('CTC_TABLE', 256);
          t.string('CTC_PARTITION', 767);
          t.specificType('CTC_TIMESTAMP', 'timestamp').notNullable().defaultTo(knex.raw('CURRENT_TIMESTAMP'));
          t.bigInteger('CTC_WRITEID');
          t.specificType('CTC_UPDATE_DELETE', 'char(1)').notNullable();
          t.index(['CTC_DATABASE', 'CTC_TABLE', 'CTC_PARTITION'], 'COMPLETED_TXN_COMPONENTS_IDX');
        })
        .createTable('TXN_LOCK_TBL', (t) => {
          t.bigInteger('TXN_LOCK').notNullable();
        })
        .createTable('TXN_TO_WRITE_ID', (t) => {
          t.bigInteger('T2W_TXNID').notNullable();
          t.string('T2W_DATABASE', 128).notNullable();
          t.string('T2W_TABLE', 256).notNullable();
          t.bigInteger('T2W_WRITEID').notNullable();
          t.unique(['T2W_DATABASE', 'T2W_TABLE', 'T2W_TXNID'], { indexName: 'TBL_TO_TXN_ID_IDX' });
          t.unique(['T2W_DATABASE', 'T2W_TABLE', 'T2W_WRITEID'], { indexName: 'TBL_TO_WRITE_ID_IDX' });
        })
        .createTable('NEXT_WRITE_ID', (t) => {
          t.string('NWI_DATABASE', 128).notNullable();
          t.string('NWI_TABLE', 256).notNullable();
          t.bigInteger('NWI_NEXT').notNullable();
          t.unique(['NWI_DATABASE', 'NWI_TABLE'], { indexName: 'NEXT_WRITE_ID_IDX' });
        })
        .createTable('MIN_HISTORY_LEVEL', (t) => {
          t.bigInteger('MHL_TXNID').notNullable().primary();
          t.bigInteger('MHL_MIN_OPEN_TXNID').notNullable();
          t.index(['MHL_MIN_OPEN_TXNID'], 'MIN_HISTORY_LEVEL_IDX');
        })
        .createTable('MIN_HISTORY_WRITE_ID', (t) => {
          t.bigInteger('MH_TXNID').notNullable().references('TXN_ID').inTable('TXNS');
          t.string('MH_DATABASE', 128).notNullable();
          t.string('MH_TABLE', 256).notNullable();
          t.bigInteger('MH_WRITEID').notNullable();
        })
        .createTable('WRITE_SET', (t) => {
          t.string('WS_DATABASE', 128).notNullable();
          t.string('WS_TABLE', 256).notNullable();
          t.string('WS_PARTITION', 767);
          t.bigInteger('WS_TXNID').notNullable();
          t.bigInteger('WS_COMMIT_ID').notNullable();
          t.specificType('WS_OPERATION_TYPE', 'char(1)').notNullable();
          t.index(['WS_DATABASE', 'WS_TABLE'], 'WRITE_SET_TABLE_INDEX');
        })
        .createTable('AUX_TABLE', (t) => {
          t.string('MT_KEY1', 128).notNullable();
          t.bigInteger('MT_KEY2').notNullable();
          t.string('MT_COMMENT', 255);
          t.primary(['MT_KEY1', 'MT_KEY2']);
        })
        .createTable('MATERIALIZATION_REBUILD_LOCKS', (t) => {
          t.bigInteger('MRL_TXN_ID').notNullable().primary();
          t.string('MRL_DB_NAME', 128).notNullable();
          t.string('MRL_TBL_NAME', 256).notNullable();
          t.bigInteger('MRL_LAST_HEARTBEAT').notNullable();
        })
        .createTable('REPL_TXN_MAP', (t) => {
          t.string('RTM_REPL_POLICY', 256).notNullable();
          t.bigInteger('RTM_SRC_TXN_ID').notNullable();
          t.bigInteger('RTM_TARGET_TXN_ID').notNullable();
          t.primary(['RTM_REPL_POLICY', 'RTM_SRC_TXN_ID']);
        })
        .createTable('TXN_WRITE_NOTIFICATION_LOG', (t) => {
          t.bigInteger('WNL_ID').notNullable().primary();
          t.bigInteger('WNL_TXNID').notNullable();
          t.bigInteger('WNL_WRITEID').notNullable();
          t.string('WNL_DATABASE', 128).notNullable();
          t.string('WNL_TABLE', 256).notNullable();
          t.string('WNL_PARTITION', 767).notNullable();
          t.text('WNL_TABLE_OBJ').notNullable();
          t.text('WNL_PARTITION_OBJ');
          t.text('WNL_FILES');
          t.integer('WNL_EVENT_TIME').notNullable();
        }),
    );
    await tx.run(
      `INSERT INTO TXNS (TXN_ID, TXN_STATE, TXN_STARTED, TXN_LAST_HEARTBEAT, TXN_USER, TXN_HOST)
        VALUES (0, 'c', 0, 0, '', '')`,
    );
    await tx.run('INSERT INTO TXN_LOCK_TBL (TXN_LOCK) VALUES (1)');
  },
};

export const txnMigrations: readonly Migration[] = [transactionTables];
