import {
  createTables,
  type Dialect,
  type IndexDefinition,
  insertFirst,
  type Migration,
  type TableDefinition,
  type Tx,
} from '@skep/metadb';
import { hiveTables } from './hive-tables.js';

/**
 * The tables of Hive 4.0's metastore (its MySQL schema): names, columns, types, keys, so that a Hive metastore can work
 * on the same database. Columns that hold what users write take any script; the others are latin1 as all are in Hive.
 */
function tables({ name, text }: Dialect): readonly string[] {
  // As much of a text as fits into a key of InnoDB (3072 bytes).
  const key = (column: string, length: number) => (name === 'mysql' ? `${column}(${length})` : column);
  return [
    `CTLGS (CTLG_ID bigint NOT NULL, NAME varchar(256), \`DESC\` varchar(4000), LOCATION_URI varchar(4000)${text} NOT NULL,
      CREATE_TIME int, PRIMARY KEY (CTLG_ID), CONSTRAINT UNIQUE_CATALOG UNIQUE (NAME))`,
    `DBS (DB_ID bigint NOT NULL, \`DESC\` varchar(4000)${text}, DB_LOCATION_URI varchar(4000)${text} NOT NULL, NAME varchar(128),
      OWNER_NAME varchar(128)${text}, OWNER_TYPE varchar(10), CTLG_NAME varchar(256) NOT NULL DEFAULT 'hive', CREATE_TIME int,
      DB_MANAGED_LOCATION_URI varchar(4000)${text}, TYPE varchar(32) NOT NULL DEFAULT 'NATIVE', DATACONNECTOR_NAME varchar(128),
      REMOTE_DBNAME varchar(128), PRIMARY KEY (DB_ID), CONSTRAINT UNIQUE_DATABASE UNIQUE (NAME, CTLG_NAME),
      CONSTRAINT CTLG_FK1 FOREIGN KEY (CTLG_NAME) REFERENCES CTLGS (NAME))`,
    `DATABASE_PARAMS (DB_ID bigint NOT NULL, PARAM_KEY varchar(180) NOT NULL, PARAM_VALUE varchar(4000)${text},
      PRIMARY KEY (DB_ID, PARAM_KEY), CONSTRAINT DATABASE_PARAMS_FK1 FOREIGN KEY (DB_ID) REFERENCES DBS (DB_ID))`,
    'CDS (CD_ID bigint NOT NULL, PRIMARY KEY (CD_ID))',
    `COLUMNS_V2 (CD_ID bigint NOT NULL, COMMENT varchar(4000)${text}, COLUMN_NAME varchar(767)${text} NOT NULL,
      TYPE_NAME mediumtext${text}, INTEGER_IDX int NOT NULL, PRIMARY KEY (CD_ID, ${key('COLUMN_NAME', 766)}),
      CONSTRAINT COLUMNS_V2_FK1 FOREIGN KEY (CD_ID) REFERENCES CDS (CD_ID))`,
    `SERDES (SERDE_ID bigint NOT NULL, NAME varchar(128), SLIB varchar(4000), DESCRIPTION varchar(4000),
      SERIALIZER_CLASS varchar(4000), DESERIALIZER_CLASS varchar(4000), SERDE_TYPE int, PRIMARY KEY (SERDE_ID))`,
    `SERDE_PARAMS (SERDE_ID bigint NOT NULL, PARAM_KEY varchar(256) NOT NULL, PARAM_VALUE mediumtext${text},
      PRIMARY KEY (SERDE_ID, PARAM_KEY),
      CONSTRAINT SERDE_PARAMS_FK1 FOREIGN KEY (SERDE_ID) REFERENCES SERDES (SERDE_ID))`,
    `SDS (SD_ID bigint NOT NULL, CD_ID bigint, INPUT_FORMAT varchar(4000), IS_COMPRESSED bit(1) NOT NULL,
      IS_STOREDASSUBDIRECTORIES bit(1) NOT NULL, LOCATION varchar(4000)${text}, NUM_BUCKETS int NOT NULL,
      OUTPUT_FORMAT varchar(4000), SERDE_ID bigint, PRIMARY KEY (SD_ID),
      CONSTRAINT SDS_FK1 FOREIGN KEY (SERDE_ID) REFERENCES SERDES (SERDE_ID),
      CONSTRAINT SDS_FK2 FOREIGN KEY (CD_ID) REFERENCES CDS (CD_ID))`,
    `SD_PARAMS (SD_ID bigint NOT NULL, PARAM_KEY varchar(256) NOT NULL, PARAM_VALUE mediumtext${text},
      PRIMARY KEY (SD_ID, PARAM_KEY), CONSTRAINT SD_PARAMS_FK1 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID))`,
    `BUCKETING_COLS (SD_ID bigint NOT NULL, BUCKET_COL_NAME varchar(256)${text}, INTEGER_IDX int NOT NULL,
      PRIMARY KEY (SD_ID, INTEGER_IDX), CONSTRAINT BUCKETING_COLS_FK1 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID))`,
    `SORT_COLS (SD_ID bigint NOT NULL, COLUMN_NAME varchar(767)${text}, \`ORDER\` int NOT NULL, INTEGER_IDX int NOT NULL,
      PRIMARY KEY (SD_ID, INTEGER_IDX), CONSTRAINT SORT_COLS_FK1 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID))`,
    `TBLS (TBL_ID bigint NOT NULL, CREATE_TIME int NOT NULL, DB_ID bigint, LAST_ACCESS_TIME int NOT NULL,
      OWNER varchar(767)${text}, OWNER_TYPE varchar(10), RETENTION int NOT NULL, SD_ID bigint, TBL_NAME varchar(256),
      TBL_TYPE varchar(128), VIEW_EXPANDED_TEXT mediumtext${text}, VIEW_ORIGINAL_TEXT mediumtext${text},
      IS_REWRITE_ENABLED bit(1) NOT NULL DEFAULT 0, WRITE_ID bigint DEFAULT 0, PRIMARY KEY (TBL_ID),
      CONSTRAINT UNIQUETABLE UNIQUE (TBL_NAME, DB_ID),
      CONSTRAINT TBLS_FK1 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID),
      CONSTRAINT TBLS_FK2 FOREIGN KEY (DB_ID) REFERENCES DBS (DB_ID))`,
    `TABLE_PARAMS (TBL_ID bigint NOT NULL, PARAM_KEY varchar(256) NOT NULL, PARAM_VALUE mediumtext${text},
      PRIMARY KEY (TBL_ID, PARAM_KEY), CONSTRAINT TABLE_PARAMS_FK1 FOREIGN KEY (TBL_ID) REFERENCES TBLS (TBL_ID))`,
    `PARTITION_KEYS (TBL_ID bigint NOT NULL, PKEY_COMMENT varchar(4000)${text}, PKEY_NAME varchar(128)${text} NOT NULL,
      PKEY_TYPE varchar(767)${text} NOT NULL, INTEGER_IDX int NOT NULL, PRIMARY KEY (TBL_ID, PKEY_NAME),
      CONSTRAINT PARTITION_KEYS_FK1 FOREIGN KEY (TBL_ID) REFERENCES TBLS (TBL_ID))`,
    `PARTITIONS (PART_ID bigint NOT NULL, CREATE_TIME int NOT NULL, LAST_ACCESS_TIME int NOT NULL,
      PART_NAME varchar(767)${text}, SD_ID bigint, TBL_ID bigint, WRITE_ID bigint DEFAULT 0, PRIMARY KEY (PART_ID),
      CONSTRAINT UNIQUEPARTITION UNIQUE (TBL_ID, ${key('PART_NAME', 760)}),
      CONSTRAINT PARTITIONS_FK1 FOREIGN KEY (TBL_ID) REFERENCES TBLS (TBL_ID),
      CONSTRAINT PARTITIONS_FK2 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID))`,
    `PARTITION_KEY_VALS (PART_ID bigint NOT NULL, PART_KEY_VAL varchar(256)${text}, INTEGER_IDX int NOT NULL,
      PRIMARY KEY (PART_ID, INTEGER_IDX),
      CONSTRAINT PARTITION_KEY_VALS_FK1 FOREIGN KEY (PART_ID) REFERENCES PARTITIONS (PART_ID))`,
    `PARTITION_PARAMS (PART_ID bigint NOT NULL, PARAM_KEY varchar(256) NOT NULL, PARAM_VALUE mediumtext${text},
      PRIMARY KEY (PART_ID, PARAM_KEY),
      CONSTRAINT PARTITION_PARAMS_FK1 FOREIGN KEY (PART_ID) REFERENCES PARTITIONS (PART_ID))`,
    `KEY_CONSTRAINTS (CHILD_CD_ID bigint, CHILD_INTEGER_IDX int, CHILD_TBL_ID bigint, PARENT_CD_ID bigint,
      PARENT_INTEGER_IDX int NOT NULL, PARENT_TBL_ID bigint NOT NULL, \`POSITION\` bigint NOT NULL,
      CONSTRAINT_NAME varchar(400) NOT NULL, CONSTRAINT_TYPE smallint NOT NULL, UPDATE_RULE smallint,
      DELETE_RULE smallint, ENABLE_VALIDATE_RELY smallint NOT NULL, DEFAULT_VALUE varchar(400)${text},
      PRIMARY KEY (PARENT_TBL_ID, CONSTRAINT_NAME, \`POSITION\`))`,
    'SEQUENCE_TABLE (SEQUENCE_NAME varchar(255) NOT NULL, NEXT_VAL bigint NOT NULL, PRIMARY KEY (SEQUENCE_NAME))',
    `VERSION (VER_ID bigint NOT NULL, SCHEMA_VERSION varchar(127) NOT NULL, VERSION_COMMENT varchar(255),
      PRIMARY KEY (VER_ID))`,
  ];
}

/** The first are foreign keys, which MySQL indexes by itself. */
const INDEXES: readonly (readonly [table: string, index: IndexDefinition])[] = [
  ['SDS', { name: 'SDS_N49', on: 'SERDE_ID', onlySqlite: true }],
  ['SDS', { name: 'SDS_N50', on: 'CD_ID', onlySqlite: true }],
  ['TBLS', { name: 'TBLS_N50', on: 'SD_ID', onlySqlite: true }],
  ['TBLS', { name: 'TBLS_N49', on: 'DB_ID, TBL_NAME', onlySqlite: true }],
  ['PARTITIONS', { name: 'PARTITIONS_N50', on: 'SD_ID', onlySqlite: true }],
  ['KEY_CONSTRAINTS', { name: 'CONSTRAINTS_PARENT_TABLE_ID_INDEX', on: 'PARENT_TBL_ID' }],
  // Hive has none for this one, but asks by it.
  ['KEY_CONSTRAINTS', { name: 'CONSTRAINTS_CHILD_TABLE_ID_INDEX', on: 'CHILD_TBL_ID', isOurs: true }],
];

function definitions(dialect: Dialect): TableDefinition[] {
  return tables(dialect).map((text) => {
    const open = text.indexOf('(');
    const name = text.slice(0, open).trim();
    const indexes = INDEXES.filter(([table]) => table === name).map(([, index]) => index);
    return { name, columns: text.slice(open + 1, text.lastIndexOf(')')), indexes };
  });
}

const MODEL = 'org.apache.hadoop.hive.metastore.model';

/** Hive's catalog and the database `default`, unless there are any. */
async function insertDefaults(tx: Tx, warehouseUri: string): Promise<void> {
  const seconds = (await tx.now()) / 1000n;
  await insertFirst(tx, 'CTLGS', {
    CTLG_ID: 1,
    NAME: 'hive',
    DESC: 'Default catalog for Hive',
    LOCATION_URI: warehouseUri,
    CREATE_TIME: seconds,
  });
  await insertFirst(tx, 'DBS', {
    DB_ID: 1,
    DESC: 'Default Hive database',
    DB_LOCATION_URI: warehouseUri,
    NAME: 'default',
    OWNER_NAME: 'public',
    OWNER_TYPE: 'ROLE',
    CTLG_NAME: 'hive',
    CREATE_TIME: seconds,
  });
  await insertFirst(tx, 'VERSION', {
    VER_ID: 1,
    SCHEMA_VERSION: '4.0.0',
    VERSION_COMMENT: 'Hive release version 4.0.0',
  });
  await insertNextIds(tx, { MNotificationLog: 1, MDatabase: 2 });
}

/** Where a Hive was here before, its own counts stand. */
async function insertNextIds(tx: Tx, next: Readonly<Record<string, number>>): Promise<void> {
  for (const [model, value] of Object.entries(next)) {
    const sql = `${tx.dialect.insertIgnore} SEQUENCE_TABLE (SEQUENCE_NAME, NEXT_VAL) VALUES (?, ?)`;
    await tx.run(sql, [`${MODEL}.${model}`, value]);
  }
}

/**
 * The catalog's tables, Hive's catalog `hive`, and the database `default`.
 * @param warehouseUri where `default` keeps its tables: a URI, `file:/path`.
 */
export function catalogMigrations(warehouseUri: string): readonly Migration[] {
  return [
    {
      id: 'catalog/001-tables',
      async up(tx) {
        await createTables(tx, definitions(tx.dialect));
        await insertDefaults(tx, warehouseUri);
      },
    },
    {
      id: 'catalog/002-tables-of-hive',
      async up(tx) {
        await createTables(tx, hiveTables(tx.dialect));
        await insertFirst(tx, 'NOTIFICATION_SEQUENCE', { NNI_ID: 1, NEXT_EVENT_ID: 1 });
        await insertNextIds(tx, { MCatalog: 2, MTxnWriteNotificationLog: 1 });
      },
    },
  ];
}
