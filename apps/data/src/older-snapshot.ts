import { ValidWriteIdList } from '@skep/core';
import { BadRequestError } from '@skep/flight';

/**
 * A write id list of a client is of that table, and `now` (what a snapshot sees that is taken after the files were listed) has
 * nothing open or aborted that it calls valid: nobody reads what is not committed by saying that it is.
 */
export function requireCommitted(table: string, given: string, now: string | undefined): void {
  if (now === undefined) throw new BadRequestError(`${table} is not transactional: it has no write ids`);
  const wanted = ValidWriteIdList.parse(given);
  if (wanted.tableName !== null && wanted.tableName.toLowerCase() !== table.toLowerCase()) {
    throw new BadRequestError(`the write id list is of ${wanted.tableName}, not of ${table}`);
  }
  const seen = ValidWriteIdList.parse(now);
  const invisible = seen.exceptions.find((writeId) => wanted.isWriteIdValid(writeId));
  if (invisible === undefined) return;
  throw new BadRequestError(`the write id list has write id ${invisible} of ${table}, which is open or aborted`);
}
