import { InvalidRequestError, type SortKey, type Table } from '@skep/rpc';

const ITEM = /^(?:[`\w]+\.)?(?:`((?:[^`]|``)+)`|(\w+))(?:\s+(asc|desc))?(?:\s+nulls\s+(first|last))?$/i;

/**
 * The columns of a rebalance's ORDER BY, as CQ_ORDER_BY has it (with or without the words ORDER BY). NULLs come last
 * ascending and first descending, unless it says otherwise (hive.default.nulls.last).
 */
export function parseOrderBy(text: string, table: Table): SortKey[] {
  const list = text.trim().replace(/^order\s+by\s+/i, '');
  if (list === '') return [];
  const columns = (table.sd?.columns ?? []).map(({ name }) => name.toLowerCase());
  return splitItems(list).map((item) => {
    const [, quoted, plain, direction, nulls] = ITEM.exec(item) ?? [];
    const name = (quoted?.replaceAll('``', '`') ?? plain)?.toLowerCase();
    const column = name === undefined ? -1 : columns.indexOf(name);
    if (column < 0) {
      const named = `${table.database}.${table.name}`;
      throw new InvalidRequestError(`ORDER BY ${item}: a rebalance can sort by the columns of ${named} only`);
    }
    const isDescending = direction?.toLowerCase() === 'desc';
    return { column, isDescending, nullsFirst: nulls === undefined ? isDescending : nulls.toLowerCase() === 'first' };
  });
}

/** At the commas outside of backquotes. */
function splitItems(list: string): string[] {
  return [...list.matchAll(/(?:`(?:[^`]|``)*`|[^,`])+/g)].map(([item]) => item.trim());
}
