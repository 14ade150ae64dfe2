import type { Migration } from '@skep/metadb';
import type { Knex } from 'knex';

/** The columns that COMPACTION_QUEUE (CQ_) and COMPLETED_COMPACTIONS (CC_) share, as in Hive 4's metastore schema. */
function commonColumns(t: Knex.CreateTableBuilder, prefix: 'CQ' | 'CC'): void {
  t.bigInteger(`${prefix}_ID`).primary();
  t.string(`${prefix}_DATABASE`, 128).notNullable();
  t.string(`${prefix}_TABLE`, 256).notNullable();
  t.string(`${prefix}_PARTITION`, 767);
  t.specificType(`${prefix}_STATE`, 'char(1)').notNullable();
  t.specificType(`${prefix}_TYPE`, 'char(1)').notNullable();
  t.string(`${prefix}_TBLPROPERTIES`, 2048);
  t.string(`${prefix}_WORKER_ID`, 128);
  t.bigInteger(`${prefix}_ENQUEUE_TIME`);
  t.bigInteger(`${prefix}_START`);
  if (prefix === 'CC') t.bigInteger('CC_END');
  t.string(`${prefix}_RUN_AS`, 128);
  t.bigInteger(`${prefix}_HIGHEST_WRITE_ID`);
  t.binary(`${prefix}_META_INFO`, 2048);
  t.string(`${prefix}_HADOOP_JOB_ID`, 32);
  t.text(`${prefix}_ERROR_MESSAGE`);
  t.bigInteger(`${prefix}_NEXT_TXN_ID`);
  t.bigInteger(`${prefix}_TXN_ID`);
  t.bigInteger(`${prefix}_COMMIT_TIME`);
  t.string(`${prefix}_INITIATOR_ID`, 128);
  t.string(`${prefix}_INITIATOR_VERSION`, 128);
  t.string(`${prefix}_WORKER_VERSION`, 128);
  if (prefix === 'CQ') {
    t.bigInteger('CQ_CLEANER_START');
    t.bigInteger('CQ_RETRY_RETENTION').notNullable().defaultTo(0);
  }
  t.string(`${prefix}_POOL_NAME`, 128);
  t.integer(`${prefix}_NUMBER_OF_BUCKETS`);
  t.string(`${prefix}_ORDER_BY`, 4000);
}

const compactionTables: Migration = {
  id: 'compactor/001-compaction-tables',
  async up(tx) {
    await tx.build((knex) =>
      knex.schema
        .createTable('COMPACTION_QUEUE', (t) => commonColumns(t, 'CQ'))
        .createTable('COMPLETED_COMPACTIONS', (t) => {
          commonColumns(t, 'CC');
          t.index(['CC_DATABASE', 'CC_TABLE', 'CC_PARTITION'], 'COMPLETED_COMPACTIONS_RES');
        })
        .createTable('NEXT_COMPACTION_QUEUE_ID', (t) => {
          t.bigInteger('NCQ_NEXT').notNullable();
        })
        .createTable('COMPACTION_METRICS_CACHE', (t) => {
          t.string('CMC_DATABASE', 128).notNullable();
          t.string('CMC_TABLE', 256).notNullable();
          t.string('CMC_PARTITION', 767);
          t.string('CMC_METRIC_TYPE', 128).notNullable();
          t.integer('CMC_METRIC_VALUE').notNullable();
          t.integer('CMC_VERSION').notNullable();
        }),
    );
    await tx.run('INSERT INTO NEXT_COMPACTION_QUEUE_ID (NCQ_NEXT) VALUES (1)');
  },
};

export const compactorMigrations: readonly Migration[] = [compactionTables];
