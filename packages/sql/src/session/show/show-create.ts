import { Constraint_Kind, type StorageDescriptor, type Table } from '@skep/rpc';
import { skewedOf } from '../ddl/skewed.js';
import { isShown, shownParameters, sortedEntries } from './describe.js';

/** Parameters that the metastore keeps for itself (org.apache.hadoop.hive.ql.ddl.table.create.show). */
const ownParameters = new Set([
  'COLUMN_STATS_ACCURATE',
  'numFiles',
  'numFilesErasureCoded',
  'numRows',
  'rawDataSize',
  'totalSize',
  'EXTERNAL',
  'comment',
]);

/** SHOW CREATE TABLE, a row a line. */
export function showCreateTable(table: Table, temporary = false): string[] {
  if (table.tableType === 'VIRTUAL_VIEW') {
    return [`CREATE VIEW \`${table.name}\` AS ${table.viewExpandedText ?? table.viewOriginalText}`];
  }
  const sd = table.sd;
  if (sd === undefined) return [];
  const external = temporary ? 'TEMPORARY ' : table.tableType === 'EXTERNAL_TABLE' ? 'EXTERNAL ' : '';
  const lines = [
    `CREATE ${external}TABLE \`${table.name}\`(`,
    ...sd.columns.map((column, i) => `  ${columnText(column)}${i === sd.columns.length - 1 ? ')' : ', '}`),
  ];
  if (table.parameters.comment !== undefined) lines.push(`COMMENT ${quoted(table.parameters.comment)}`);
  if (table.partitionKeys.length > 0) {
    lines.push('PARTITIONED BY ( ');
    table.partitionKeys.forEach((key, i) => {
      lines.push(`  ${columnText(key)}${i === table.partitionKeys.length - 1 ? ')' : ', '}`);
    });
  }
  if (sd.bucketColumns.length > 0) {
    lines.push('CLUSTERED BY (');
    sd.bucketColumns.forEach((name, i) => {
      lines.push(`  \`${name}\`${i === sd.bucketColumns.length - 1 ? ')' : ', '}`);
    });
    if (sd.sortColumns.length > 0) {
      lines.push('SORTED BY (');
      sd.sortColumns.forEach(({ column, order }, i) => {
        lines.push(`  \`${column}\` ${order === 1 ? 'ASC' : 'DESC'}${i === sd.sortColumns.length - 1 ? ')' : ', '}`);
      });
    }
    lines.push(`INTO ${sd.numBuckets} BUCKETS`);
  }
  lines.push(...skewedLines(sd));
  lines.push('ROW FORMAT SERDE ', `  ${quoted(sd.serde?.serializationLib ?? '')} `);
  const serdeParameters = sortedEntries(sd.serde?.parameters ?? {}).filter(
    ([name, value]) => name !== 'serialization.format' || value !== '1',
  );
  if (serdeParameters.length > 0) lines.push('WITH SERDEPROPERTIES ( ', ...propertyLines(serdeParameters, ') '));
  lines.push('STORED AS INPUTFORMAT ', `  ${quoted(sd.inputFormat)} `, 'OUTPUTFORMAT ', `  ${quoted(sd.outputFormat)}`);
  lines.push('LOCATION', `  ${quoted(sd.location)}`);
  const parameters = shownParameters(table.parameters).filter(([name]) => !ownParameters.has(name));
  lines.push('TBLPROPERTIES (', ...propertyLines(parameters, ')'));
  return [...lines, ...constraintLines(table)];
}

function skewedLines(sd: StorageDescriptor): string[] {
  const skewed = skewedOf(sd);
  if (skewed === undefined) return [];
  const values = skewed.values.map((value) => `(${value.map(quoted).join(',')})`);
  return [
    `SKEWED BY (${skewed.columns.map((name) => `\`${name}\``).join(',')})`,
    `  ON (${values.join(',')})`,
    ...(sd.storedAsSubDirectories ? ['  STORED AS DIRECTORIES'] : []),
  ];
}

const columnText = (column: { name: string; type: string; comment?: string | undefined }): string =>
  `\`${column.name}\` ${column.type}${column.comment === undefined ? '' : ` COMMENT ${quoted(column.comment)}`}`;

const quoted = (text: string): string => `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;

function propertyLines(entries: readonly (readonly [string, string])[], end: string): string[] {
  return entries.map(
    ([name, value], i) => `  ${quoted(name)}=${quoted(value)}${i === entries.length - 1 ? end : ', '}`,
  );
}

function constraintLines(table: Table): string[] {
  const name = `\`${table.database}\`.\`${table.name}\``;
  const typeOf = (column: string) => table.sd?.columns.find((c) => c.name === column)?.type ?? '';
  const ofKind = (kind: Constraint_Kind) =>
    table.constraints.filter((constraint) => constraint.kind === kind && isShown(constraint));
  const list = (columns: readonly string[]) => columns.map((c) => `\`${c}\``).join(',');
  const state = (c: { enable: boolean; validate: boolean; rely: boolean }) =>
    `${c.enable ? 'ENABLE' : 'DISABLE'} ${c.validate ? 'VALIDATE' : 'NOVALIDATE'} ${c.rely ? 'RELY' : 'NORELY'}`;
  return [
    ...ofKind(Constraint_Kind.KIND_PRIMARY_KEY).map(
      (c) => `ALTER TABLE ${name} ADD CONSTRAINT \`${c.name}\` PRIMARY KEY (${list(c.columns)}) ${state(c)};`,
    ),
    ...ofKind(Constraint_Kind.KIND_FOREIGN_KEY).map(
      (c) =>
        `ALTER TABLE ${name} ADD CONSTRAINT \`${c.name}\` FOREIGN KEY (${list(c.columns)}) REFERENCES ${c.parentTable
          .split('.')
          .map((part) => `\`${part}\``)
          .join('.')}(${list(c.parentColumns)}) ${state(c)};`,
    ),
    ...ofKind(Constraint_Kind.KIND_UNIQUE).map(
      (c) => `ALTER TABLE ${name} ADD CONSTRAINT \`${c.name}\` UNIQUE (${list(c.columns)}) ${state(c)};`,
    ),
    ...ofKind(Constraint_Kind.KIND_DEFAULT).map(
      (c) =>
        `ALTER TABLE ${name} CHANGE COLUMN \`${c.columns[0]}\` \`${c.columns[0]}\` ${typeOf(c.columns[0])} CONSTRAINT \`${c.name}\` DEFAULT ${c.expression} ${state(c)};`,
    ),
    ...ofKind(Constraint_Kind.KIND_CHECK).map(
      (c) => `ALTER TABLE ${name} ADD CONSTRAINT \`${c.name}\` CHECK (${c.expression}) ${state(c)};`,
    ),
    ...ofKind(Constraint_Kind.KIND_NOT_NULL).map(
      (c) =>
        `ALTER TABLE ${name} CHANGE COLUMN \`${c.columns[0]}\` \`${c.columns[0]}\` ${typeOf(c.columns[0])} CONSTRAINT \`${c.name}\` NOT NULL ${state(c)};`,
    ),
  ];
}
