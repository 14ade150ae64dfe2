import { LockType, type Partition, type Table } from '@skep/rpc';
import { joinPath } from '@skep/storage';
import type { PartitionSpec, TableName } from '../../parse/ast.js';
import { resolveTable, type SessionContext } from '../context.js';
import { MetaError, SemanticError } from '../errors.js';
import { matchingPartitions, nameOf, partitionValues, specText } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { done } from '../text-result.js';
import { databaseLock, isTransactional } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';

/** ALTER TABLE t EXCHANGE PARTITION (…) WITH TABLE from: the partitions of `from` become t's, folders and all. */
export async function exchangePartition(
  context: SessionContext,
  target: TableName,
  action: { readonly partition: PartitionSpec; readonly from: TableName },
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const to = await resolveTable(context, target);
      const from = await resolveTable(context, action.from);
      if (isTransactional(to) || isTransactional(from)) {
        throw new SemanticError(
          10236,
          'Exchange partition is not allowed with transactional tables. Alternatively, shall use load data or insert overwrite to move partitions.',
        );
      }
      if (!sameLayout(to, from))
        throw new SemanticError(10235, 'Tables have incompatible schemas and their partitions cannot be exchanged.');
      const values = partitionValues(from, action.partition);
      const moved = await matchingPartitions(context, from, values);
      if (moved.length === 0) throw new SemanticError(10006, `Partition not found ${specText(values)}`);
      const present = (await matchingPartitions(context, to, values)).map((partition) => nameOf(to, partition.values));
      const repeated = moved.map((partition) => nameOf(from, partition.values)).find((name) => present.includes(name));
      if (repeated !== undefined) throw new SemanticError(10118, `Partition already exists: ${repeated}`);
      return {
        reads: [],
        writes: [
          { table: to, kind: 'alter' },
          { table: from, kind: 'alter' },
        ],
        otherLocks: [databaseLock(to.database, LockType.LOCK_TYPE_SHARED_READ)],
        run: async () => {
          await move(context, from, to, moved);
          return done;
        },
      };
    },
    { signal },
  );
}

function sameLayout(a: Table, b: Table): boolean {
  const text = ({ sd, partitionKeys }: Table) =>
    JSON.stringify([
      [...(sd?.columns ?? []), ...partitionKeys].map(({ name, type }) => [name, type]),
      [sd?.inputFormat, sd?.outputFormat, sd?.serde?.serializationLib],
    ]);
  return text(a) === text(b);
}

/** Folders first; should one not move, or the catalog refuse, those before it go back. */
async function move(context: SessionContext, from: Table, to: Table, partitions: readonly Partition[]): Promise<void> {
  const { fs, catalog } = context.services;
  const names = partitions.map((partition) => nameOf(from, partition.values));
  const renamed: { from: string; to: string }[] = [];
  try {
    for (const [i, partition] of partitions.entries()) {
      const old = partition.sd?.location ?? '';
      const location = joinPath(to.sd?.location ?? '', names[i]);
      if ((await fs.stat(location)) !== undefined) throw new MetaError(`${location} is there already, of no partition`);
      await fs.mkdirs(location.slice(0, location.lastIndexOf('/')));
      await fs.rename(old, location);
      renamed.push({ from: old, to: location });
    }
    const added = partitions.map((partition, i) => ({
      ...partition,
      id: 0n,
      database: to.database,
      table: to.name,
      sd: partition.sd && { ...partition.sd, location: renamed[i].to },
    }));
    await catalog.addPartitions({ partitions: added, ifNotExists: false });
  } catch (error) {
    for (const step of renamed.reverse()) await fs.rename(step.to, step.from);
    throw error;
  }
  await catalog.dropPartitions({ database: from.database, table: from.name, names });
}
