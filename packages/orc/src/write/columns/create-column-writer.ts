import type { TypeDescription } from '../../type-description.js';
import type { WriterSettings } from '../options.js';
import { BinaryWriter } from './binary-writer.js';
import type { ColumnWriter } from './column-writer.js';
import { DecimalWriter } from './decimal-writer.js';
import { CollectionWriter, StructWriter, UnionWriter } from './nested-writers.js';
import { BooleanWriter, ByteWriter, DateWriter, FloatingWriter, IntWriter, LongWriter } from './number-writers.js';
import { StringWriter } from './string-writer.js';
import { TimestampWriter } from './timestamp-writer.js';

/** The writer of a column and of those below it (Java: TreeWriter.Factory). */
export function createColumnWriter(type: TypeDescription, settings: WriterSettings): ColumnWriter {
  switch (type.kind) {
    case 'boolean':
      return new BooleanWriter(type, settings);
    case 'byte':
      return new ByteWriter(type, settings);
    case 'short':
    case 'int':
      return new IntWriter(type, settings);
    case 'long':
      return new LongWriter(type, settings);
    case 'float':
    case 'double':
      return new FloatingWriter(type, settings);
    case 'string':
    case 'char':
    case 'varchar':
      return new StringWriter(type, settings);
    case 'binary':
      return new BinaryWriter(type, settings);
    case 'date':
      return new DateWriter(type, settings);
    case 'timestamp':
    case 'timestamp_instant':
      return new TimestampWriter(type, settings);
    case 'decimal':
      return new DecimalWriter(type, settings);
    case 'list':
    case 'map':
      return new CollectionWriter(type, settings, childWriters(type, settings));
    case 'struct':
      return new StructWriter(type, settings, childWriters(type, settings));
    case 'union':
      return new UnionWriter(type, settings, childWriters(type, settings));
  }
}

function childWriters(type: TypeDescription, settings: WriterSettings): ColumnWriter[] {
  return type.children.map((child) => createColumnWriter(child, settings));
}
