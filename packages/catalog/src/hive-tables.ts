import type { Dialect, TableDefinition } from '@skep/metadb';

/** Columns of the tables that keep privileges. */
function grant(key: string, of: string, privilege: string): string {
  return `${key} bigint NOT NULL PRIMARY KEY, CREATE_TIME int NOT NULL, GRANT_OPTION smallint NOT NULL,
    GRANTOR varchar(128), GRANTOR_TYPE varchar(128), PRINCIPAL_NAME varchar(128), PRINCIPAL_TYPE varchar(128),
    ${privilege} varchar(128), AUTHORIZER varchar(128)${of}`;
}

const foreignKey = (column: string, table: string, key = column): string =>
  `, FOREIGN KEY (${column}) REFERENCES ${table} (${key})`;

/** Columns of the statistics of a table's or a partition's columns. */
function statistics(of: string, text: string): string {
  return `CS_ID bigint NOT NULL PRIMARY KEY, CAT_NAME varchar(256) NOT NULL, DB_NAME varchar(128) NOT NULL,
    TABLE_NAME varchar(256) NOT NULL, COLUMN_NAME varchar(767)${text} NOT NULL, COLUMN_TYPE varchar(128) NOT NULL,
    LONG_LOW_VALUE bigint, LONG_HIGH_VALUE bigint, DOUBLE_HIGH_VALUE double, DOUBLE_LOW_VALUE double,
    BIG_DECIMAL_LOW_VALUE varchar(4000), BIG_DECIMAL_HIGH_VALUE varchar(4000), NUM_NULLS bigint NOT NULL,
    NUM_DISTINCTS bigint, BIT_VECTOR blob, HISTOGRAM blob, AVG_COL_LEN double, MAX_COL_LEN bigint, NUM_TRUES bigint,
    NUM_FALSES bigint, LAST_ANALYZED bigint NOT NULL, ENGINE varchar(128) NOT NULL${of}`;
}

/**
 * What a Hive 4.0.1 metastore on the same database uses beside the catalog's own tables (package.jdo of Hive 4.0.1, its
 * MySQL schema). The catalog only removes what hangs on something it drops, and renames it.
 */
export function hiveTables({ text, longText, autoIncrement }: Dialect): TableDefinition[] {
  const table = (name: string, columns: string, indexes: TableDefinition['indexes'] = []): TableDefinition => {
    return { name, columns, indexes };
  };
  const unique = (name: string, on: string) => [{ name, on, unique: true }];
  return [
    table(
      'ROLES',
      `ROLE_ID bigint NOT NULL PRIMARY KEY, CREATE_TIME int NOT NULL, OWNER_NAME varchar(128),
      ROLE_NAME varchar(128)`,
      unique('ROLEENTITYINDEX', 'ROLE_NAME'),
    ),
    table(
      'ROLE_MAP',
      `ROLE_GRANT_ID bigint NOT NULL PRIMARY KEY, ADD_TIME int NOT NULL, GRANT_OPTION smallint NOT NULL,
      GRANTOR varchar(128), GRANTOR_TYPE varchar(128), PRINCIPAL_NAME varchar(128), PRINCIPAL_TYPE varchar(128),
      ROLE_ID bigint${foreignKey('ROLE_ID', 'ROLES')}`,
      unique('USERROLEMAPINDEX', 'PRINCIPAL_NAME, ROLE_ID, GRANTOR, GRANTOR_TYPE'),
    ),
    table(
      'GLOBAL_PRIVS',
      grant('USER_GRANT_ID', '', 'USER_PRIV'),
      unique('GLOBALPRIVILEGEINDEX', 'AUTHORIZER, PRINCIPAL_NAME, PRINCIPAL_TYPE, USER_PRIV, GRANTOR, GRANTOR_TYPE'),
    ),
    table(
      'DB_PRIVS',
      grant('DB_GRANT_ID', `, DB_ID bigint${foreignKey('DB_ID', 'DBS')}`, 'DB_PRIV'),
      unique('DBPRIVILEGEINDEX', 'AUTHORIZER, DB_ID, PRINCIPAL_NAME, PRINCIPAL_TYPE, DB_PRIV, GRANTOR, GRANTOR_TYPE'),
    ),
    table('TBL_PRIVS', grant('TBL_GRANT_ID', `, TBL_ID bigint${foreignKey('TBL_ID', 'TBLS')}`, 'TBL_PRIV'), [
      {
        name: 'TABLEPRIVILEGEINDEX',
        on: 'AUTHORIZER, TBL_ID, PRINCIPAL_NAME, PRINCIPAL_TYPE, TBL_PRIV, GRANTOR, GRANTOR_TYPE',
      },
    ]),
    table(
      'TBL_COL_PRIVS',
      grant(
        'TBL_COLUMN_GRANT_ID',
        `, COLUMN_NAME varchar(767)${text}, TBL_ID bigint${foreignKey('TBL_ID', 'TBLS')}`,
        'TBL_COL_PRIV',
      ),
      [{ name: 'TABLECOLUMNPRIVILEGEINDEX', on: 'AUTHORIZER, TBL_ID, PRINCIPAL_NAME, PRINCIPAL_TYPE, TBL_COL_PRIV' }],
    ),
    table('PART_PRIVS', grant('PART_GRANT_ID', `, PART_ID bigint${foreignKey('PART_ID', 'PARTITIONS')}`, 'PART_PRIV'), [
      {
        name: 'PARTPRIVILEGEINDEX',
        on: 'AUTHORIZER, PART_ID, PRINCIPAL_NAME, PRINCIPAL_TYPE, PART_PRIV, GRANTOR, GRANTOR_TYPE',
      },
    ]),
    table(
      'PART_COL_PRIVS',
      grant(
        'PART_COLUMN_GRANT_ID',
        `, COLUMN_NAME varchar(767)${text}, PART_ID bigint${foreignKey('PART_ID', 'PARTITIONS')}`,
        'PART_COL_PRIV',
      ),
      [
        {
          name: 'PARTITIONCOLUMNPRIVILEGEINDEX',
          on: 'AUTHORIZER, PART_ID, PRINCIPAL_NAME, PRINCIPAL_TYPE, PART_COL_PRIV',
        },
      ],
    ),
    table(
      'DATACONNECTORS',
      `NAME varchar(128) NOT NULL PRIMARY KEY, TYPE varchar(32) NOT NULL, URL varchar(4000) NOT NULL,
      COMMENT varchar(256)${text}, OWNER_NAME varchar(256), OWNER_TYPE varchar(10), CREATE_TIME int NOT NULL`,
    ),
    table(
      'DATACONNECTOR_PARAMS',
      `NAME varchar(128) NOT NULL, PARAM_KEY varchar(180) NOT NULL, PARAM_VALUE varchar(4000),
      PRIMARY KEY (NAME, PARAM_KEY)`,
    ),
    table(
      'DC_PRIVS',
      grant('DC_GRANT_ID', ', NAME varchar(128)', 'DC_PRIV'),
      unique('DCPRIVILEGEINDEX', 'AUTHORIZER, NAME, PRINCIPAL_NAME, PRINCIPAL_TYPE, DC_PRIV, GRANTOR, GRANTOR_TYPE'),
    ),
    table(
      'PARTITION_EVENTS',
      `PART_NAME_ID bigint NOT NULL PRIMARY KEY, CAT_NAME varchar(256), DB_NAME varchar(128),
      EVENT_TIME bigint NOT NULL, EVENT_TYPE int NOT NULL, PARTITION_NAME varchar(767)${text}, TBL_NAME varchar(256)`,
      [{ name: 'PARTITIONEVENTINDEX', on: 'PARTITION_NAME(600)' }],
    ),
    table('SKEWED_STRING_LIST', 'STRING_LIST_ID bigint NOT NULL PRIMARY KEY'),
    table(
      'SKEWED_STRING_LIST_VALUES',
      `STRING_LIST_ID bigint NOT NULL, STRING_LIST_VALUE varchar(256)${text},
      INTEGER_IDX int NOT NULL, PRIMARY KEY (STRING_LIST_ID, INTEGER_IDX)${foreignKey('STRING_LIST_ID', 'SKEWED_STRING_LIST')}`,
    ),
    table(
      'SKEWED_COL_NAMES',
      `SD_ID bigint NOT NULL, SKEWED_COL_NAME varchar(256)${text}, INTEGER_IDX int NOT NULL,
      PRIMARY KEY (SD_ID, INTEGER_IDX)${foreignKey('SD_ID', 'SDS')}`,
    ),
    table(
      'SKEWED_COL_VALUE_LOC_MAP',
      `SD_ID bigint NOT NULL, STRING_LIST_ID_KID bigint NOT NULL,
      LOCATION varchar(4000)${text}, PRIMARY KEY (SD_ID, STRING_LIST_ID_KID)${foreignKey('SD_ID', 'SDS')}
      ${foreignKey('STRING_LIST_ID_KID', 'SKEWED_STRING_LIST', 'STRING_LIST_ID')}`,
    ),
    table(
      'SKEWED_VALUES',
      `SD_ID_OID bigint NOT NULL, STRING_LIST_ID_EID bigint NOT NULL, INTEGER_IDX int NOT NULL,
      PRIMARY KEY (SD_ID_OID, INTEGER_IDX)${foreignKey('SD_ID_OID', 'SDS', 'SD_ID')}
      ${foreignKey('STRING_LIST_ID_EID', 'SKEWED_STRING_LIST', 'STRING_LIST_ID')}`,
    ),
    table('TAB_COL_STATS', statistics(`, TBL_ID bigint NOT NULL${foreignKey('TBL_ID', 'TBLS')}`, text), [
      { name: 'TAB_COL_STATS_IDX', on: 'CAT_NAME, DB_NAME, TABLE_NAME, COLUMN_NAME(500)' },
    ]),
    table(
      'PART_COL_STATS',
      statistics(
        `, PARTITION_NAME varchar(767)${text} NOT NULL, PART_ID bigint NOT NULL${foreignKey('PART_ID', 'PARTITIONS')}`,
        text,
      ),
      [{ name: 'PCS_STATS_IDX', on: 'CAT_NAME, DB_NAME, TABLE_NAME, COLUMN_NAME(300), PARTITION_NAME(300)' }],
    ),
    table(
      'TYPES',
      `TYPES_ID bigint NOT NULL PRIMARY KEY, TYPE_NAME varchar(128), TYPE1 varchar(767), TYPE2 varchar(767)`,
      unique('UNIQUE_TYPE', 'TYPE_NAME'),
    ),
    table(
      'TYPE_FIELDS',
      `TYPE_NAME bigint NOT NULL, COMMENT varchar(256)${text}, FIELD_NAME varchar(128) NOT NULL,
      FIELD_TYPE varchar(767) NOT NULL, INTEGER_IDX int NOT NULL,
      PRIMARY KEY (TYPE_NAME, FIELD_NAME)${foreignKey('TYPE_NAME', 'TYPES', 'TYPES_ID')}`,
    ),
    table('MASTER_KEYS', `KEY_ID ${autoIncrement}, MASTER_KEY varchar(767)`),
    table('DELEGATION_TOKENS', 'TOKEN_IDENT varchar(767) NOT NULL PRIMARY KEY, TOKEN varchar(767)'),
    table(
      'FUNCS',
      `FUNC_ID bigint NOT NULL PRIMARY KEY, CLASS_NAME varchar(4000), CREATE_TIME int NOT NULL, DB_ID bigint,
      FUNC_NAME varchar(128), FUNC_TYPE int NOT NULL, OWNER_NAME varchar(128), OWNER_TYPE varchar(10)
      ${foreignKey('DB_ID', 'DBS')}`,
      unique('UNIQUEFUNCTION', 'FUNC_NAME, DB_ID'),
    ),
    table(
      'FUNC_RU',
      `FUNC_ID bigint NOT NULL, RESOURCE_TYPE int NOT NULL, RESOURCE_URI varchar(4000)${text},
      INTEGER_IDX int NOT NULL, PRIMARY KEY (FUNC_ID, INTEGER_IDX)${foreignKey('FUNC_ID', 'FUNCS')}`,
    ),
    table(
      'NOTIFICATION_LOG',
      `NL_ID bigint NOT NULL PRIMARY KEY, EVENT_ID bigint NOT NULL, EVENT_TIME int NOT NULL,
      EVENT_TYPE varchar(32) NOT NULL, CAT_NAME varchar(256), DB_NAME varchar(128), TBL_NAME varchar(256),
      MESSAGE ${longText}${text}, MESSAGE_FORMAT varchar(16)`,
      unique('NOTIFICATION_LOG_EVENT_ID', 'EVENT_ID'),
    ),
    table('NOTIFICATION_SEQUENCE', 'NNI_ID bigint NOT NULL PRIMARY KEY, NEXT_EVENT_ID bigint NOT NULL'),
    table(
      'METASTORE_DB_PROPERTIES',
      `PROPERTY_KEY varchar(255) NOT NULL PRIMARY KEY, PROPERTY_VALUE varchar(1000) NOT NULL,
      DESCRIPTION varchar(1000), PROPERTYCONTENT blob`,
    ),
    table(
      'MV_CREATION_METADATA',
      `MV_CREATION_METADATA_ID bigint NOT NULL PRIMARY KEY, CAT_NAME varchar(256) NOT NULL,
      DB_NAME varchar(128) NOT NULL, TBL_NAME varchar(256) NOT NULL, TXN_LIST text, MATERIALIZATION_TIME bigint NOT NULL`,
      [{ name: 'MV_UNIQUE_TABLE', on: 'TBL_NAME, DB_NAME' }],
    ),
    table(
      'MV_TABLES_USED',
      `MV_CREATION_METADATA_ID bigint NOT NULL, TBL_ID bigint NOT NULL,
      INSERTED_COUNT bigint NOT NULL DEFAULT 0, UPDATED_COUNT bigint NOT NULL DEFAULT 0,
      DELETED_COUNT bigint NOT NULL DEFAULT 0, PRIMARY KEY (TBL_ID, MV_CREATION_METADATA_ID)
      ${foreignKey('MV_CREATION_METADATA_ID', 'MV_CREATION_METADATA')}${foreignKey('TBL_ID', 'TBLS')}`,
    ),
    table(
      'WM_RESOURCEPLAN',
      `RP_ID bigint NOT NULL PRIMARY KEY, NAME varchar(128) NOT NULL, NS varchar(128),
      QUERY_PARALLELISM int, STATUS varchar(20) NOT NULL, DEFAULT_POOL_ID bigint`,
      unique('UNIQUE_WM_RESOURCEPLAN', 'NAME, NS'),
    ),
    table(
      'WM_POOL',
      `POOL_ID bigint NOT NULL PRIMARY KEY, RP_ID bigint NOT NULL, PATH varchar(767) NOT NULL,
      ALLOC_FRACTION double, QUERY_PARALLELISM int, SCHEDULING_POLICY varchar(767)${foreignKey('RP_ID', 'WM_RESOURCEPLAN')}`,
      unique('UNIQUE_WM_POOL', 'RP_ID, PATH'),
    ),
    table(
      'WM_TRIGGER',
      `TRIGGER_ID bigint NOT NULL PRIMARY KEY, RP_ID bigint NOT NULL, NAME varchar(128) NOT NULL,
      TRIGGER_EXPRESSION varchar(1024), ACTION_EXPRESSION varchar(1024), IS_IN_UNMANAGED bit(1) NOT NULL DEFAULT 0
      ${foreignKey('RP_ID', 'WM_RESOURCEPLAN')}`,
      unique('UNIQUE_WM_TRIGGER', 'RP_ID, NAME'),
    ),
    table(
      'WM_POOL_TO_TRIGGER',
      `POOL_ID bigint NOT NULL, TRIGGER_ID bigint NOT NULL, PRIMARY KEY (POOL_ID, TRIGGER_ID)
      ${foreignKey('POOL_ID', 'WM_POOL')}${foreignKey('TRIGGER_ID', 'WM_TRIGGER')}`,
    ),
    table(
      'WM_MAPPING',
      `MAPPING_ID bigint NOT NULL PRIMARY KEY, RP_ID bigint NOT NULL, ENTITY_TYPE varchar(128) NOT NULL,
      ENTITY_NAME varchar(128) NOT NULL, POOL_ID bigint, ORDERING int
      ${foreignKey('RP_ID', 'WM_RESOURCEPLAN')}${foreignKey('POOL_ID', 'WM_POOL')}`,
      unique('UNIQUE_WM_MAPPING', 'RP_ID, ENTITY_TYPE, ENTITY_NAME'),
    ),
    table(
      'I_SCHEMA',
      `SCHEMA_ID bigint NOT NULL PRIMARY KEY, SCHEMA_TYPE int NOT NULL, NAME varchar(256), DB_ID bigint,
      COMPATIBILITY int NOT NULL, VALIDATION_LEVEL int NOT NULL, CAN_EVOLVE bit(1) NOT NULL, SCHEMA_GROUP varchar(256),
      DESCRIPTION varchar(4000)${text}${foreignKey('DB_ID', 'DBS')}`,
      [{ name: 'UNIQUE_NAME', on: 'NAME' }],
    ),
    table(
      'SCHEMA_VERSION',
      `SCHEMA_VERSION_ID bigint NOT NULL PRIMARY KEY, SCHEMA_ID bigint, VERSION int NOT NULL,
      CREATED_AT bigint NOT NULL, CD_ID bigint, STATE int NOT NULL, DESCRIPTION varchar(4000)${text},
      SCHEMA_TEXT ${longText}${text}, FINGERPRINT varchar(256), SCHEMA_VERSION_NAME varchar(256), SERDE_ID bigint
      ${foreignKey('SCHEMA_ID', 'I_SCHEMA')}${foreignKey('CD_ID', 'CDS')}${foreignKey('SERDE_ID', 'SERDES')}`,
      [{ name: 'UNIQUE_VERSION', on: 'SCHEMA_ID, VERSION' }],
    ),
    table(
      'RUNTIME_STATS',
      `RS_ID bigint NOT NULL PRIMARY KEY, CREATE_TIME bigint NOT NULL, WEIGHT bigint NOT NULL,
      PAYLOAD blob`,
      [{ name: 'IDX_RUNTIME_STATS_CREATE_TIME', on: 'CREATE_TIME' }],
    ),
    table(
      'SCHEDULED_QUERIES',
      `SCHEDULED_QUERY_ID bigint NOT NULL PRIMARY KEY, CLUSTER_NAMESPACE varchar(256),
      ENABLED boolean NOT NULL, NEXT_EXECUTION int, QUERY varchar(4000)${text}, SCHEDULE varchar(256),
      SCHEDULE_NAME varchar(256), \`USER\` varchar(256), ACTIVE_EXECUTION_ID bigint`,
    ),
    table(
      'SCHEDULED_EXECUTIONS',
      `SCHEDULED_EXECUTION_ID bigint NOT NULL PRIMARY KEY, END_TIME int,
      ERROR_MESSAGE varchar(2000)${text}, EXECUTOR_QUERY_ID varchar(256), LAST_UPDATE_TIME int, SCHEDULED_QUERY_ID bigint,
      START_TIME int, STATE varchar(256),
      FOREIGN KEY (SCHEDULED_QUERY_ID) REFERENCES SCHEDULED_QUERIES (SCHEDULED_QUERY_ID) ON DELETE CASCADE`,
      [{ name: 'IDX_SCHEDULED_EXECUTIONS_LAST_UPDATE_TIME', on: 'LAST_UPDATE_TIME' }],
    ),
    table(
      'REPLICATION_METRICS',
      `RM_SCHEDULED_EXECUTION_ID bigint NOT NULL PRIMARY KEY, RM_POLICY varchar(256) NOT NULL,
      RM_DUMP_EXECUTION_ID bigint NOT NULL, RM_METADATA varchar(4000), RM_PROGRESS varchar(10000),
      RM_START_TIME int NOT NULL, MESSAGE_FORMAT varchar(16) DEFAULT 'json-0.2'`,
      [
        { name: 'POLICY_IDX', on: 'RM_POLICY' },
        { name: 'DUMP_IDX', on: 'RM_DUMP_EXECUTION_ID' },
      ],
    ),
    table(
      'STORED_PROCS',
      `SP_ID bigint NOT NULL PRIMARY KEY, CREATE_TIME int NOT NULL, DB_ID bigint NOT NULL,
      NAME varchar(256) NOT NULL, OWNER_NAME varchar(128) NOT NULL, SOURCE ${longText}${text} NOT NULL
      ${foreignKey('DB_ID', 'DBS')}`,
      unique('UNIQUESTOREDPROC', 'NAME, DB_ID'),
    ),
    table(
      'PACKAGES',
      `PKG_ID bigint NOT NULL PRIMARY KEY, CREATE_TIME int NOT NULL, DB_ID bigint NOT NULL,
      NAME varchar(256) NOT NULL, OWNER_NAME varchar(128) NOT NULL, HEADER ${longText}${text} NOT NULL,
      BODY ${longText}${text} NOT NULL${foreignKey('DB_ID', 'DBS')}`,
      unique('UNIQUEPKG', 'NAME, DB_ID'),
    ),
  ];
}

/** What of these hangs on a row of the catalog, by that row's id: deleted before it. */
const DEPENDENTS = {
  TBL_ID: ['TAB_COL_STATS', 'TBL_PRIVS', 'TBL_COL_PRIVS', 'MV_TABLES_USED'],
  PART_ID: ['PART_COL_STATS', 'PART_PRIVS', 'PART_COL_PRIVS'],
  SD_ID: ['SKEWED_COL_NAMES', 'SKEWED_COL_VALUE_LOC_MAP'],
  DB_ID: ['DB_PRIVS', 'FUNCS', 'STORED_PROCS', 'PACKAGES', 'I_SCHEMA'],
} as const;

export const dependentsOf = (id: keyof typeof DEPENDENTS): readonly string[] => DEPENDENTS[id];
