import type { DescribeDatabaseStatement } from '../../parse/ast.js';
import { requireDatabase, type SessionContext } from '../context.js';
import type { StatementResult } from '../result.js';
import { textResult } from '../text-result.js';
import { sortedEntries } from './describe.js';

const describeColumns = [
  'db_name',
  'comment',
  'location',
  'managedlocation',
  'owner_name',
  'owner_type',
  'connector_name',
  'remote_dbname',
];

/** DESCRIBE DATABASE [EXTENDED]: one row of Hive's columns. */
export async function describeDatabase(
  context: SessionContext,
  statement: DescribeDatabaseStatement,
): Promise<StatementResult> {
  const name = await requireDatabase(context, statement.database);
  const { database: d } = await context.services.catalog.getDatabase({ name });
  const row = [name, d?.description ?? '', d?.locationUri ?? '', '', d?.ownerName ?? '', d?.ownerType ?? '', '', ''];
  if (!statement.extended) return textResult(describeColumns, [row]);
  const parameters = sortedEntries(d?.parameters ?? {}).map(([k, v]) => `${k}=${v}`);
  return textResult(
    [...describeColumns, 'parameters'],
    [[...row, parameters.length > 0 ? `{${parameters.join(', ')}}` : '']],
  );
}
