import { parseAcidDirectoryName } from '@skep/acid';
import { DEFAULT_PARTITION_NAME, parsePartitionName } from '@skep/core';
import type { Partition, Table } from '@skep/rpc';
import { joinPath } from '@skep/storage';
import type { AnalyzeStatement, MsckStatement } from '../../parse/ast.js';
import { resolveTable, type SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import { matchingPartitions, nameOf, newPartition, partitionValues } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { done, textResult } from '../text-result.js';
import { isTransactional } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import { adoptFiles } from './adopt-files.js';

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
      if (table.tableType === 'VIRTUAL_VIEW') throw new SemanticError(10091, 'ANALYZE is not supported for views');
      const { partition: spec } = statement;
      const values = spec === undefined ? new Map<string, string>() : partitionValues(table, spec);
      const partitions = table.partitionKeys.length === 0 ? [] : await matchingPartitions(context, table, values);
      return {
        reads: [{ table, partitions: partitions.map(({ values }) => nameOf(table, values)) }],
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
      if (table.partitionKeys.length === 0 && !isTransactional(table)) {
        throw new SemanticError(10241, `Table ${table.database}.${table.name} is not a partitioned table`, {
          position: statement.table.position,
        });
      }
      return {
        reads: [],
        writes: [{ table, kind: 'msck' }],
        run: async (transaction) => {
          const folders = table.partitionKeys.length === 0 ? new Map() : await partitionFolders(context, table);
          if (statement.repair && isTransactional(table)) {
            const locations = [...folders.values()].map((folder) => folder.location);
            await adoptFiles(context, transaction, table, [table.sd?.location ?? '', ...locations]);
          }
          return await repair(context, table, folders, statement);
        },
      };
    },
    { signal },
  );
}

async function repair(
  context: SessionContext,
  table: Table,
  onDisk: ReadonlyMap<string, PartitionFolder>,
  statement: MsckStatement,
): Promise<StatementResult> {
  const { catalog, fs } = context.services;
  const known = await catalog.getPartitions({ database: table.database, table: table.name, names: [] });
  const knownNames = new Set(known.partitions.map((partition) => nameOf(table, partition.values)));
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
    const partitions = missing.flatMap((name) => {
      const folder = onDisk.get(name);
      return folder === undefined ? [] : [newPartition(context, table, folder.values, folder.location)];
    });
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

/** A partition's folder as it is on the disk, which may spell its name otherwise than we would (HR=06). */
interface PartitionFolder {
  readonly values: readonly string[];
  readonly location: string;
}

/** The folders k1=v1/k2=v2 below the table's, by partition name. */
async function partitionFolders(context: SessionContext, table: Table): Promise<Map<string, PartitionFolder>> {
  const { fs } = context.services;
  const found = new Map<string, PartitionFolder>();
  const walk = async (location: string, path: readonly string[]): Promise<void> => {
    if (path.length === table.partitionKeys.length) {
      const values = parsePartitionName(path.join('/')).map((part) => part.value ?? DEFAULT_PARTITION_NAME);
      found.set(nameOf(table, values), { values, location });
      return;
    }
    for (const entry of await fs.list(location)) {
      if (!entry.isDirectory || parseAcidDirectoryName(entry.name) !== undefined) continue;
      if (!entry.name.toLowerCase().startsWith(`${table.partitionKeys[path.length].name}=`)) continue;
      await walk(joinPath(location, entry.name), [...path, entry.name]);
    }
  };
  const root = table.sd?.location ?? '';
  if ((await fs.stat(root)) !== undefined) await walk(root, []);
  return found;
}
