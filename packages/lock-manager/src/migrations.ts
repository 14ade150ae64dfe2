import { createTables, insertFirst, type Migration } from '@skep/metadb';

/** HIVE_LOCKS and NEXT_LOCK_ID as in Hive 4's metastore schema. */
const lockTables: Migration = {
  id: 'lock-manager/001-lock-tables',
  async up(tx) {
    const { text } = tx.dialect;
    await createTables(tx, [
      {
        name: 'HIVE_LOCKS',
        columns: `HL_LOCK_EXT_ID bigint NOT NULL, HL_LOCK_INT_ID bigint NOT NULL, HL_TXNID bigint NOT NULL,
          HL_DB varchar(128) NOT NULL, HL_TABLE varchar(256), HL_PARTITION varchar(767)${text},
          HL_LOCK_STATE char(1) NOT NULL, HL_LOCK_TYPE char(1) NOT NULL, HL_LAST_HEARTBEAT bigint NOT NULL,
          HL_ACQUIRED_AT bigint, HL_USER varchar(128)${text} NOT NULL, HL_HOST varchar(128)${text} NOT NULL,
          HL_HEARTBEAT_COUNT integer, HL_AGENT_INFO varchar(128)${text}, HL_BLOCKEDBY_EXT_ID bigint,
          HL_BLOCKEDBY_INT_ID bigint, PRIMARY KEY (HL_LOCK_EXT_ID, HL_LOCK_INT_ID)`,
        indexes: [
          { name: 'HL_TXNID_INDEX', on: 'HL_TXNID' },
          // Ours.
          { name: 'HL_DB_TABLE_INDEX', on: 'HL_DB, HL_TABLE', isOurs: true },
        ],
      },
      { name: 'NEXT_LOCK_ID', columns: 'NL_NEXT bigint NOT NULL' },
    ]);
    await insertFirst(tx, 'NEXT_LOCK_ID', { NL_NEXT: 1 });
  },
};

export const lockMigrations: readonly Migration[] = [lockTables];
