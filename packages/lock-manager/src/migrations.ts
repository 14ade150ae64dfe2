import type { Migration } from '@skep/metadb';

/** HIVE_LOCKS and NEXT_LOCK_ID as in Hive 4's metastore schema. */
const lockTables: Migration = {
  id: 'lock-manager/001-lock-tables',
  async up(tx) {
    await tx.build((knex) =>
      knex.schema
        .createTable('HIVE_LOCKS', (t) => {
          t.bigInteger('HL_LOCK_EXT_ID').notNullable();
          t.bigInteger('HL_LOCK_INT_ID').notNullable();
          t.bigInteger('HL_TXNID').notNullable();
          t.string('HL_DB', 128).notNullable();
          t.string('HL_TABLE', 256);
          t.string('HL_PARTITION', 767);
          t.specificType('HL_LOCK_STATE', 'char(1)').notNullable();
          t.specificType('HL_LOCK_TYPE', 'char(1)').notNullable();
          t.bigInteger('HL_LAST_HEARTBEAT').notNullable();
          t.bigInteger('HL_ACQUIRED_AT');
          t.string('HL_USER', 128).notNullable();
          t.string('HL_HOST', 128).notNullable();
          t.integer('HL_HEARTBEAT_COUNT');
          t.string('HL_AGENT_INFO', 128);
          t.bigInteger('HL_BLOCKEDBY_EXT_ID');
          t.bigInteger('HL_BLOCKEDBY_INT_ID');
          t.primary(['HL_LOCK_EXT_ID', 'HL_LOCK_INT_ID']);
          t.index(['HL_TXNID'], 'HL_TXNID_INDEX');
          t.index(['HL_DB', 'HL_TABLE'], 'HL_DB_TABLE_INDEX');
        })
        .createTable('NEXT_LOCK_ID', (t) => {
          t.bigInteger('NL_NEXT').notNullable();
        }),
    );
    await tx.run('INSERT INTO NEXT_LOCK_ID (NL_NEXT) VALUES (1)');
  },
};

export const lockMigrations: readonly Migration[] = [lockTables];
