import { type LockComponent, LockType } from '@skep/rpc';
import type {
  DropMaterializedViewStatement,
  DropTableStatement,
  DropViewStatement,
  TableName,
} from '../../parse/ast.js';
import { findTable, lockSettings, qualify, type SessionContext } from '../context.js';
import { SemanticError, tableNotFound } from '../errors.js';
import type { StatementResult } from '../result.js';
import { done } from '../text-result.js';
import { databaseLock, hasSoftDeletes, isSoftDelete } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import { foldersOfTable, hasLocks, leaveToCleaner, softDeleteIf } from './soft-delete.js';

/** What each table type goes with, and what Hive says of it in its errors. */
const KINDS: Readonly<Record<string, { readonly statement: string; readonly name: string; readonly words: string }>> = {
  VIRTUAL_VIEW: { statement: 'drop-view', name: 'a view', words: 'DROP VIEW' },
  MATERIALIZED_VIEW: {
    statement: 'drop-materialized-view',
    name: 'a materialized view',
    words: 'DROP MATERIALIZED VIEW',
  },
};
const BASE_TABLE = { statement: 'drop-table', name: 'a base table', words: 'DROP TABLE' };

/**
 * DROP TABLE, DROP VIEW and DROP MATERIALIZED VIEW. Under its EXCLUSIVE lock nobody reads the table, so its files go at once;
 * those of a table with soft deletes are left to the Cleaner (soft-delete.ts). A table that is not there is no error unless
 * hive.exec.drop.ignorenonexistent is false (Hive's default is true).
 */
export async function dropTable(
  context: SessionContext,
  statement: DropTableStatement | DropViewStatement | DropMaterializedViewStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const target: TableName = statement.kind === 'drop-table' ? statement.table : statement.view;
  const { database, table: name } = qualify(context, target);
  const existing = await findTable(context, database, name);
  if (existing === undefined) {
    if (context.onlyLocks !== undefined) return context.onlyLocks(databaseLocks(statement, database));
    if (statement.ifExists || context.conf.getBoolean('hive.exec.drop.ignorenonexistent')) return done;
    throw tableNotFound(`${database}.${name}`, target.position);
  }
  const kind = KINDS[existing.tableType] ?? BASE_TABLE;
  if (kind.statement !== statement.kind) {
    const asked = [...Object.values(KINDS), BASE_TABLE].find((other) => other.statement === statement.kind);
    const code = statement.kind === 'drop-table' ? 10174 : 10175;
    throw new SemanticError(code, `Cannot drop ${kind.name} with ${asked?.words}: ${database}.${name}`, {
      position: target.position,
    });
  }
  const settings = lockSettings(context.conf);
  return await runStatement(
    context,
    async () => {
      const table = await findTable(context, database, name);
      return {
        reads: [],
        writes: table === undefined ? [] : [{ table, kind: 'drop' }],
        otherLocks: databaseLocks(statement, database),
        run: async (transaction) => {
          if (table === undefined) return done;
          const { catalog, txns, compactions, fs } = context.services;
          const { partitions } =
            table.partitionKeys.length === 0
              ? { partitions: [] }
              : await catalog.getPartitions({ database, table: name, names: [] });
          const isTemporary = context.temporary.has(database, name);
          const isSoft = !isTemporary && isSoftDelete(table, settings);
          if (isSoft) await leaveToCleaner(context, transaction, table, foldersOfTable(table, partitions));
          const { txnId } = transaction;
          const { factsForgotten } = await catalog.dropTable({ database, name, txnId, keepWriteIds: isSoft });
          // The services know a session's own table by the name of the table that it hides, if any.
          if (!isTemporary && !factsForgotten) {
            await txns.forgetResource({ database, table: name, partitions: [], keepWriteIds: isSoft, txnId });
            await compactions.forgetCompactions({ database, table: name, partitions: [] });
          }
          if (isSoft) return done;
          if (table.tableType !== 'MANAGED_TABLE' && table.tableType !== 'MATERIALIZED_VIEW') return done;
          const root = table.sd?.location ?? '';
          const outside = partitions
            .map((partition) => partition.sd?.location ?? '')
            .filter((location) => location !== '' && !location.startsWith(`${root}/`));
          const kept: string[] = [];
          // Somebody else may have made one of its name, there, since its locks are gone.
          if (!isTemporary && !(await hasLocks(context, transaction))) return done;
          for (const location of [...outside, root]) {
            // The table is gone by now: that its files could not be removed is for the user to know, and no failure of DROP.
            await fs.delete(location, { recursive: true }).catch((error: unknown) => {
              kept.push(
                `${database}.${name} is dropped, but its folder stays: ${error instanceof Error ? error.message : error}`,
              );
            });
          }
          return { messages: kept };
        },
      };
    },
    { signal, ...softDeleteIf(hasSoftDeletes(settings) && statement.kind !== 'drop-view') },
  );
}

/** A view has no files that could be in a database's way. */
const databaseLocks = ({ kind }: { readonly kind: string }, database: string): LockComponent[] =>
  kind === 'drop-view' ? [] : [databaseLock(database, LockType.LOCK_TYPE_SHARED_READ)];
