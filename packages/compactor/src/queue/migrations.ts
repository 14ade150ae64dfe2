import { createTables, insertFirst, type Migration } from '@skep/metadb';

/** The columns that COMPACTION_QUEUE (CQ_) and COMPLETED_COMPACTIONS (CC_) share, as in Hive 4's metastore schema. */
function columns(prefix: 'CQ' | 'CC', text: string): string {
  const names = `ID bigint NOT NULL PRIMARY KEY, DATABASE varchar(128) NOT NULL, TABLE varchar(256) NOT NULL,
    PARTITION varchar(767)${text}, STATE char(1) NOT NULL, TYPE char(1) NOT NULL, TBLPROPERTIES varchar(2048)${text},
    WORKER_ID varchar(128)${text}, ENQUEUE_TIME bigint, START bigint, RUN_AS varchar(128)${text}, HIGHEST_WRITE_ID bigint,
    META_INFO varbinary(2048), HADOOP_JOB_ID varchar(32), ERROR_MESSAGE mediumtext${text}, NEXT_TXN_ID bigint, TXN_ID bigint,
    COMMIT_TIME bigint, INITIATOR_ID varchar(128)${text}, INITIATOR_VERSION varchar(128), WORKER_VERSION varchar(128),
    POOL_NAME varchar(128)${text}, NUMBER_OF_BUCKETS integer, ORDER_BY varchar(4000)${text}`;
  return names.replace(/(^|,)\s*([A-Z_]+)/g, `$1 ${prefix}_$2`);
}

const compactionTables: Migration = {
  id: 'compactor/001-compaction-tables',
  async up(tx) {
    const { text } = tx.dialect;
    await createTables(tx, [
      {
        name: 'COMPACTION_QUEUE',
        columns: `${columns('CQ', text)}, CQ_CLEANER_START bigint, CQ_RETRY_RETENTION bigint NOT NULL DEFAULT 0`,
      },
      {
        name: 'COMPLETED_COMPACTIONS',
        columns: `${columns('CC', text)}, CC_END bigint`,
        indexes: [{ name: 'COMPLETED_COMPACTIONS_RES', on: 'CC_DATABASE, CC_TABLE, CC_PARTITION(600)' }],
      },
      { name: 'NEXT_COMPACTION_QUEUE_ID', columns: 'NCQ_NEXT bigint NOT NULL' },
      {
        name: 'COMPACTION_METRICS_CACHE',
        columns: `CMC_DATABASE varchar(128) NOT NULL, CMC_TABLE varchar(256) NOT NULL, CMC_PARTITION varchar(767)${text},
          CMC_METRIC_TYPE varchar(128) NOT NULL, CMC_METRIC_VALUE integer NOT NULL, CMC_VERSION integer NOT NULL`,
      },
    ]);
    await insertFirst(tx, 'NEXT_COMPACTION_QUEUE_ID', { NCQ_NEXT: 1 });
  },
};

export const compactorMigrations: readonly Migration[] = [compactionTables];
