import type { Dialect, Migration, Tx } from '@skep/metadb';

/**
 * The tables of Hive 4.0's metastore (its MySQL schema): names, columns, types, keys, so that a Hive metastore can work
 * on the same database. `text`: a column that holds what users write, in any script; the others are latin1 as in Hive,
 * whose keys would otherwise be too long for InnoDB.
 */
function tables(text: string): readonly string[] {
  return [
    `CTLGS (CTLG_ID bigint NOT NULL, NAME varchar(256), \`DESC\` varchar(4000), LOCATION_URI varchar(4000) NOT NULL,
      CREATE_TIME int, PRIMARY KEY (CTLG_ID), CONSTRAINT UNIQUE_CATALOG UNIQUE (NAME))`,
    `DBS (DB_ID bigint NOT NULL, \`DESC\` varchar(4000)${text}, DB_LOCATION_URI varchar(4000) NOT NULL, NAME varchar(128),
      OWNER_NAME varchar(128), OWNER_TYPE varchar(10), CTLG_NAME varchar(256) NOT NULL DEFAULT 'hive', CREATE_TIME int,
      DB_MANAGED_LOCATION_URI varchar(4000), TYPE varchar(32) NOT NULL DEFAULT 'NATIVE', DATACONNECTOR_NAME varchar(128),
      REMOTE_DBNAME varchar(128), PRIMARY KEY (DB_ID), CONSTRAINT UNIQUE_DATABASE UNIQUE (NAME, CTLG_NAME),
      CONSTRAINT CTLG_FK1 FOREIGN KEY (CTLG_NAME) REFERENCES CTLGS (NAME))`,
    `DATABASE_PARAMS (DB_ID bigint NOT NULL, PARAM_KEY varchar(180) NOT NULL, PARAM_VALUE varchar(4000)${text},
      PRIMARY KEY (DB_ID, PARAM_KEY), CONSTRAINT DATABASE_PARAMS_FK1 FOREIGN KEY (DB_ID) REFERENCES DBS (DB_ID))`,
    'CDS (CD_ID bigint NOT NULL, PRIMARY KEY (CD_ID))',
    `COLUMNS_V2 (CD_ID bigint NOT NULL, COMMENT varchar(4000)${text}, COLUMN_NAME varchar(767) NOT NULL,
      TYPE_NAME mediumtext, INTEGER_IDX int NOT NULL, PRIMARY KEY (CD_ID, COLUMN_NAME),
      CONSTRAINT COLUMNS_V2_FK1 FOREIGN KEY (CD_ID) REFERENCES CDS (CD_ID))`,
    `SERDES (SERDE_ID bigint NOT NULL, NAME varchar(128), SLIB varchar(4000), DESCRIPTION varchar(4000),
      SERIALIZER_CLASS varchar(4000), DESERIALIZER_CLASS varchar(4000), SERDE_TYPE int, PRIMARY KEY (SERDE_ID))`,
    `SERDE_PARAMS (SERDE_ID bigint NOT NULL, PARAM_KEY varchar(256) NOT NULL, PARAM_VALUE mediumtext${text},
      PRIMARY KEY (SERDE_ID, PARAM_KEY),
      CONSTRAINT SERDE_PARAMS_FK1 FOREIGN KEY (SERDE_ID) REFERENCES SERDES (SERDE_ID))`,
    `SDS (SD_ID bigint NOT NULL, CD_ID bigint, INPUT_FORMAT varchar(4000), IS_COMPRESSED bit(1) NOT NULL,
      IS_STOREDASSUBDIRECTORIES bit(1) NOT NULL, LOCATION varchar(4000), NUM_BUCKETS int NOT NULL,
      OUTPUT_FORMAT varchar(4000), SERDE_ID bigint, PRIMARY KEY (SD_ID),
      CONSTRAINT SDS_FK1 FOREIGN KEY (SERDE_ID) REFERENCES SERDES (SERDE_ID),
      CONSTRAINT SDS_FK2 FOREIGN KEY (CD_ID) REFERENCES CDS (CD_ID))`,
    `SD_PARAMS (SD_ID bigint NOT NULL, PARAM_KEY varchar(256) NOT NULL, PARAM_VALUE mediumtext${text},
      PRIMARY KEY (SD_ID, PARAM_KEY), CONSTRAINT SD_PARAMS_FK1 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID))`,
    `BUCKETING_COLS (SD_ID bigint NOT NULL, BUCKET_COL_NAME varchar(256), INTEGER_IDX int NOT NULL,
      PRIMARY KEY (SD_ID, INTEGER_IDX), CONSTRAINT BUCKETING_COLS_FK1 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID))`,
    `SORT_COLS (SD_ID bigint NOT NULL, COLUMN_NAME varchar(767), \`ORDER\` int NOT NULL, INTEGER_IDX int NOT NULL,
      PRIMARY KEY (SD_ID, INTEGER_IDX), CONSTRAINT SORT_COLS_FK1 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID))`,
    `TBLS (TBL_ID bigint NOT NULL, CREATE_TIME int NOT NULL, DB_ID bigint, LAST_ACCESS_TIME int NOT NULL,
      OWNER varchar(767), OWNER_TYPE varchar(10), RETENTION int NOT NULL, SD_ID bigint, TBL_NAME varchar(256),
      TBL_TYPE varchar(128), VIEW_EXPANDED_TEXT mediumtext${text}, VIEW_ORIGINAL_TEXT mediumtext${text},
      IS_REWRITE_ENABLED bit(1) NOT NULL DEFAULT 0, WRITE_ID bigint DEFAULT 0, PRIMARY KEY (TBL_ID),
      CONSTRAINT UNIQUETABLE UNIQUE (TBL_NAME, DB_ID),
      CONSTRAINT TBLS_FK1 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID),
      CONSTRAINT TBLS_FK2 FOREIGN KEY (DB_ID) REFERENCES DBS (DB_ID))`,
    `TABLE_PARAMS (TBL_ID bigint NOT NULL, PARAM_KEY varchar(256) NOT NULL, PARAM_VALUE mediumtext${text},
      PRIMARY KEY (TBL_ID, PARAM_KEY), CONSTRAINT TABLE_PARAMS_FK1 FOREIGN KEY (TBL_ID) REFERENCES TBLS (TBL_ID))`,
    `PARTITION_KEYS (TBL_ID bigint NOT NULL, PKEY_COMMENT varchar(4000)${text}, PKEY_NAME varchar(128) NOT NULL,
      PKEY_TYPE varchar(767) NOT NULL, INTEGER_IDX int NOT NULL, PRIMARY KEY (TBL_ID, PKEY_NAME),
      CONSTRAINT PARTITION_KEYS_FK1 FOREIGN KEY (TBL_ID) REFERENCES TBLS (TBL_ID))`,
    `PARTITIONS (PART_ID bigint NOT NULL, CREATE_TIME int NOT NULL, LAST_ACCESS_TIME int NOT NULL,
      PART_NAME varchar(767), SD_ID bigint, TBL_ID bigint, WRITE_ID bigint DEFAULT 0, PRIMARY KEY (PART_ID),
      CONSTRAINT UNIQUEPARTITION UNIQUE (TBL_ID, PART_NAME),
      CONSTRAINT PARTITIONS_FK1 FOREIGN KEY (TBL_ID) REFERENCES TBLS (TBL_ID),
      CONSTRAINT PARTITIONS_FK2 FOREIGN KEY (SD_ID) REFERENCES SDS (SD_ID))`,
    `PARTITION_KEY_VALS (PART_ID bigint NOT NULL, PART_KEY_VAL varchar(256), INTEGER_IDX int NOT NULL,
      PRIMARY KEY (PART_ID, INTEGER_IDX),
      CONSTRAINT PARTITION_KEY_VALS_FK1 FOREIGN KEY (PART_ID) REFERENCES PARTITIONS (PART_ID))`,
    `PARTITION_PARAMS (PART_ID bigint NOT NULL, PARAM_KEY varchar(256) NOT NULL, PARAM_VALUE mediumtext${text},
      PRIMARY KEY (PART_ID, PARAM_KEY),
      CONSTRAINT PARTITION_PARAMS_FK1 FOREIGN KEY (PART_ID) REFERENCES PARTITIONS (PART_ID))`,
    `KEY_CONSTRAINTS (CHILD_CD_ID bigint, CHILD_INTEGER_IDX int, CHILD_TBL_ID bigint, PARENT_CD_ID bigint,
      PARENT_INTEGER_IDX int NOT NULL, PARENT_TBL_ID bigint NOT NULL, \`POSITION\` bigint NOT NULL,
      CONSTRAINT_NAME varchar(400) NOT NULL, CONSTRAINT_TYPE smallint NOT NULL, UPDATE_RULE smallint,
      DELETE_RULE smallint, ENABLE_VALIDATE_RELY smallint NOT NULL, DEFAULT_VALUE varchar(400),
      PRIMARY KEY (PARENT_TBL_ID, CONSTRAINT_NAME, \`POSITION\`))`,
    'SEQUENCE_TABLE (SEQUENCE_NAME varchar(255) NOT NULL, NEXT_VAL bigint NOT NULL, PRIMARY KEY (SEQUENCE_NAME))',
    `VERSION (VER_ID bigint NOT NULL, SCHEMA_VERSION varchar(127) NOT NULL, VERSION_COMMENT varchar(255),
      PRIMARY KEY (VER_ID))`,
  ];
}

/** The first four are foreign keys, which MySQL indexes by itself. */
const INDEXES: readonly (readonly [name: string, on: string, onlySqlite: boolean])[] = [
  ['SDS_N49', 'SDS (SERDE_ID)', true],
  ['SDS_N50', 'SDS (CD_ID)', true],
  ['TBLS_N50', 'TBLS (SD_ID)', true],
  ['TBLS_N49', 'TBLS (DB_ID, TBL_NAME)', true],
  ['PARTITIONS_N50', 'PARTITIONS (SD_ID)', true],
  ['CONSTRAINTS_PARENT_TABLE_ID_INDEX', 'KEY_CONSTRAINTS (PARENT_TBL_ID)', false],
  // Hive has none for this one, but asks by it.
  ['CONSTRAINTS_CHILD_TABLE_ID_INDEX', 'KEY_CONSTRAINTS (CHILD_TBL_ID)', false],
];

async function createTables(tx: Tx, dialect: Dialect): Promise<void> {
  const isMysql = dialect.name === 'mysql';
  const text = isMysql ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : '';
  const options = isMysql ? ' ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_bin' : '';
  for (const table of tables(text)) await tx.run(`CREATE TABLE ${table}${options}`);
  for (const [name, on, onlySqlite] of INDEXES) {
    if (!onlySqlite || !isMysql) await tx.run(`CREATE INDEX ${name} ON ${on}`);
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
        await createTables(tx, tx.dialect);
        const seconds = (await tx.now()) / 1000n;
        await tx.run("INSERT INTO CTLGS VALUES (1, 'hive', 'Default catalog for Hive', ?, ?)", [warehouseUri, seconds]);
        await tx.run(
          `INSERT INTO DBS (DB_ID, \`DESC\`, DB_LOCATION_URI, NAME, OWNER_NAME, OWNER_TYPE, CTLG_NAME, CREATE_TIME)
           VALUES (1, 'Default Hive database', ?, 'default', 'public', 'ROLE', 'hive', ?)`,
          [warehouseUri, seconds],
        );
        await tx.run("INSERT INTO VERSION VALUES (1, '4.0.0', 'Hive release version 4.0.0')");
        await tx.run(
          `INSERT INTO SEQUENCE_TABLE VALUES ('org.apache.hadoop.hive.metastore.model.MNotificationLog', 1),
           ('org.apache.hadoop.hive.metastore.model.MDatabase', 2)`,
        );
      },
    },
  ];
}
