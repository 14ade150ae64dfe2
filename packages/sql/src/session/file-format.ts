import type { RowFormat, StorageFormat } from '../parse/ast.js';
import { SemanticError, UnsupportedError } from './errors.js';

/** How a table's files are read and written: Hive's three class names. */
export interface FileFormatClasses {
  readonly inputFormat: string;
  readonly outputFormat: string;
  readonly serde: string;
}

const hive = 'org.apache.hadoop.hive.ql.io';
const lazySimple = 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe';

/** STORED AS names (org.apache.hadoop.hive.ql.io.StorageFormatFactory). */
export const fileFormats: Readonly<Record<string, FileFormatClasses>> = {
  orc: {
    inputFormat: `${hive}.orc.OrcInputFormat`,
    outputFormat: `${hive}.orc.OrcOutputFormat`,
    serde: `${hive}.orc.OrcSerde`,
  },
  textfile: {
    inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
    outputFormat: `${hive}.HiveIgnoreKeyTextOutputFormat`,
    serde: lazySimple,
  },
  parquet: {
    inputFormat: `${hive}.parquet.MapredParquetInputFormat`,
    outputFormat: `${hive}.parquet.MapredParquetOutputFormat`,
    serde: `${hive}.parquet.serde.ParquetHiveSerDe`,
  },
  sequencefile: {
    inputFormat: 'org.apache.hadoop.mapred.SequenceFileInputFormat',
    outputFormat: `${hive}.HiveSequenceFileOutputFormat`,
    serde: lazySimple,
  },
  rcfile: {
    inputFormat: `${hive}.RCFileInputFormat`,
    outputFormat: `${hive}.RCFileOutputFormat`,
    serde: 'org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe',
  },
  avro: {
    inputFormat: `${hive}.avro.AvroContainerInputFormat`,
    outputFormat: `${hive}.avro.AvroContainerOutputFormat`,
    serde: 'org.apache.hadoop.hive.serde2.avro.AvroSerDe',
  },
  jsonfile: {
    inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
    outputFormat: `${hive}.HiveIgnoreKeyTextOutputFormat`,
    serde: 'org.apache.hadoop.hive.serde2.JsonSerDe',
  },
};

/** The format a table's files really have, by its input format class; undefined: one skep has no reader for. */
export function formatOf(inputFormat: string): 'orc' | 'textfile' | 'parquet' | undefined {
  for (const name of ['orc', 'textfile', 'parquet'] as const) {
    if (fileFormats[name].inputFormat === inputFormat) return name;
  }
  return undefined;
}

/** The classes and SerDe parameters of ROW FORMAT and STORED AS; `defaultFormat` is hive.default.fileformat. */
export function resolveFormat(
  storage: StorageFormat | undefined,
  rowFormat: RowFormat | undefined,
  defaultFormat: string,
): FileFormatClasses & { serdeParameters: Record<string, string> } {
  const serdeParameters: Record<string, string> = {};
  let classes = byName(defaultFormat);
  if (storage?.kind === 'format') classes = byName(storage.name);
  if (storage?.kind === 'classes') {
    classes = { inputFormat: storage.inputFormat, outputFormat: storage.outputFormat, serde: lazySimple };
    const known = Object.values(fileFormats).find((format) => format.inputFormat === storage.inputFormat);
    if (known !== undefined) classes = { ...classes, serde: known.serde };
  }
  if (storage?.kind === 'handler') throw new UnsupportedError(`STORED BY '${storage.handler}'`);
  if (rowFormat?.kind === 'serde') {
    classes = { ...classes, serde: rowFormat.serde };
    for (const { key, value } of rowFormat.properties) serdeParameters[key] = value;
  }
  if (rowFormat?.kind === 'delimited') Object.assign(serdeParameters, delimiters(rowFormat));
  return { ...classes, serdeParameters };
}

function byName(name: string): FileFormatClasses {
  const format = fileFormats[name.toLowerCase()];
  if (format === undefined) throw new SemanticError(10055, `Unrecognized file format in STORED AS clause: '${name}'`);
  return format;
}

function delimiters(format: Extract<RowFormat, { kind: 'delimited' }>): Record<string, string> {
  const parameters: Record<string, string> = {};
  if (format.fieldsTerminatedBy !== undefined) {
    parameters['field.delim'] = format.fieldsTerminatedBy;
    parameters['serialization.format'] = format.fieldsTerminatedBy;
  }
  if (format.escapedBy !== undefined) parameters['escape.delim'] = format.escapedBy;
  if (format.collectionItemsTerminatedBy !== undefined)
    parameters['collection.delim'] = format.collectionItemsTerminatedBy;
  if (format.mapKeysTerminatedBy !== undefined) parameters['mapkey.delim'] = format.mapKeysTerminatedBy;
  if (format.linesTerminatedBy !== undefined) parameters['line.delim'] = format.linesTerminatedBy;
  if (format.nullDefinedAs !== undefined) parameters['serialization.null.format'] = format.nullDefinedAs;
  return parameters;
}
