import { type FieldSchema, StorageDescriptor, Table } from '@skep/rpc';
import type { InsertDirectory } from '../../parse/ast.js';
import type { SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import { resolveFormat } from '../file-format.js';
import type { InsertShape } from './insert-query.js';

/**
 * INSERT OVERWRITE [LOCAL] DIRECTORY: a folder of files without a table (SemanticAnalyzer's FileSinkDesc of a directory). It is
 * written as a table that is not transactional would be; its columns have no names of their own.
 */
export function directoryShape(
  context: SessionContext,
  target: InsertDirectory,
  fields: readonly { readonly name: string; readonly type: string }[],
): InsertShape {
  if (target.path.trim() === '') {
    throw new SemanticError(10028, `Invalid path '${target.path}': a folder is wanted`, { position: target.position });
  }
  const columns = fields.map(
    ({ type }, i): FieldSchema => ({ name: `_col${i}`, type: type.replace(/\bvoid\b/g, 'string') }),
  );
  const format = resolveFormat(
    target.storage,
    target.rowFormat,
    context.conf.get('hive.default.fileformat') ?? 'TextFile',
  );
  const table = Table.fromPartial({
    name: target.path,
    tableType: 'EXTERNAL_TABLE',
    sd: StorageDescriptor.fromPartial({
      columns,
      location: target.path,
      inputFormat: format.inputFormat,
      outputFormat: format.outputFormat,
      numBuckets: -1,
      serde: { serializationLib: format.serde, parameters: format.serdeParameters },
    }),
  });
  return { table, given: columns, written: columns, partition: [], dynamicKeys: [] };
}
