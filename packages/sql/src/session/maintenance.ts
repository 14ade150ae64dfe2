import { parseAcidDirectoryName } from '@skep/acid';
import { parsePartitionName } from '@skep/core';
import type { Partition, Table } from '@skep/rpc';
import { joinPath } from '@skep/storage';
import type { AnalyzeStatement, MsckStatement } from '../parse/ast.js';
import { resolveTable, type SessionContext } from './context.js';
import { SemanticError } from './errors.js';
import { isTransactional } from './lock-plan.js';
import { nameOf, newPartition } from './partitions.js';
import type { StatementResult } from './result.js';
import { runStatement } from './run-statement.js';
import { done, textResult } from './text-result.js';

/**
 * ANALYZE TABLE … COMPUTE STATISTICS: basic statistics are always those of the files (statistics.ts), so nothing is
 * stored; an ACID table's write id is taken, as Hive takes one.
 */
export async function analyzeTable(
  context: SessionContext,
  statement: AnalyzeStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const table = await resolveTable(context, statement.table);
      return {
        reads: [{ table }],
        writes: [],
        run: async (transaction) => {
          if (isTransactional(table)) await transaction.writeIdOf(table.database, table.name);
          return done;
        },
      };
    },
    { signal },
  );
}

/** MSCK [REPAIR] TABLE: partitions that are folders but not in the catalog are added, those without a folder dropped. */
export async function msck(
  context: SessionContext,
  statement: MsckStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const table = await resolveTable(context, statement.table);
      if (table.partitionKeys.length === 0) {
        throw new SemanticError(10241, `Table ${table.database}.${table.name} is not a partitioned table`, {
          position: statement.table.position,
        });
      }
      return {
        reads: [],
        writes: [{ table, kind: 'msck' }],
        run: async () => await repair(context, table, statement),
      };
    },
    { signal },
  );
}

async function repair(context: SessionContext, table: Table, statement: MsckStatement): Promise<StatementResult> {
  const { catalog, fs } = context.services;
  const known = await catalog.getPartitions({ database: table.database, table: table.name, names: [] });
  const knownNames = new Set(known.partitions.map((partition) => nameOf(table, partition.values)));
  const onDisk = await partitionFolders(context, table);
  const missing = [...onDisk.keys()].filter((name) => !knownNames.has(name));
  const gone: Partition[] = [];
  for (const partition of known.partitions) {
    if ((await fs.stat(partition.sd?.location ?? '')) === undefined) gone.push(partition);
  }
  const lines: string[] = [];
  if (missing.length > 0)
    lines.push(`Partitions not in metastore:\t${missing.map((name) => `${table.name}:${name}`).join('\t')}`);
  if (gone.length > 0)
    lines.push(
      `Partitions missing from filesystem:\t${gone.map((p) => `${table.name}:${nameOf(table, p.values)}`).join('\t')}`,
    );
  if (statement.repair && statement.action !== 'drop' && missing.length > 0) {
    const partitions = missing.map((name) => newPartition(context, table, onDisk.get(name) ?? []));
    await catalog.addPartitions({ partitions, ifNotExists: true });
    lines.push(...missing.map((name) => `Repair: Added partition to metastore ${table.name}:${name}`));
  }
  if (statement.repair && statement.action !== 'add' && gone.length > 0) {
    const names = gone.map((partition) => nameOf(table, partition.values));
    await catalog.dropPartitions({ database: table.database, table: table.name, names });
    lines.push(...names.map((name) => `Repair: Dropped partition from metastore ${table.name}:${name}`));
  }
  return textResult(
    ['msck_result'],
    lines.map((line) => [line]),
  );
}

/** The folders k1=v1/k2=v2 below the table's, by name, with their values. */
async function partitionFolders(context: SessionContext, table: Table): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const walk = async (folder: string, depth: number, path: string): Promise<void> => {
    if (depth === table.partitionKeys.length) {
      const values = parsePartitionName(path).map((part) => part.value ?? '');
      found.set(nameOf(table, values), values);
      return;
    }
    for (const entry of await context.services.fs.list(folder)) {
      if (!entry.isDirectory || parseAcidDirectoryName(entry.name) !== undefined) continue;
      if (!entry.name.toLowerCase().startsWith(`${table.partitionKeys[depth].name}=`)) continue;
      await walk(joinPath(folder, entry.name), depth + 1, path === '' ? entry.name : `${path}/${entry.name}`);
    }
  };
  if ((await context.services.fs.stat(table.sd?.location ?? '')) !== undefined)
    await walk(table.sd?.location ?? '', 0, '');
  return found;
}
