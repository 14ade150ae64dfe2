import { BugError, SkepError } from '@skep/core';
import { type CatalogService, TxnState } from '@skep/rpc';
import { type FileSystem, PathExistsError } from '@skep/storage';
import { layeredCatalog } from './catalog-layer.js';
import type { Services } from './services.js';

/**
 * The folder of a renamed table or partition. The catalog takes the new name and the new place at once, with this parameter, which
 * tells from where the folder is still to be moved; then it is moved, and the parameter goes. Whoever finds it while the
 * transaction that renames is no longer open, because its process was killed in between, moves the folder himself.
 */
const MOVING = 'skep.moving';

interface FolderMove {
  readonly from: string;
  readonly to: string;
  /** Of the table, or of the partition, before and after. */
  readonly oldName: string;
  readonly newName: string;
}

interface Described {
  readonly parameters: Readonly<Record<string, string>>;
}

/** The definition while its folder is on its way. */
export const beingMoved = <T extends Described>(definition: T, move: FolderMove, txnId: bigint): T => ({
  ...definition,
  parameters: { ...definition.parameters, [MOVING]: JSON.stringify({ ...move, txnId: String(txnId) }) },
});

/** Before anything is changed: a rename never puts two folders into one. */
export async function refuseTaken(fs: FileSystem, to: string): Promise<void> {
  if ((await fs.stat(to)) !== undefined) throw new PathExistsError('rename to', to);
}

/** So often it is looked again whether somebody else has finished it. */
const MANY_LOOKS = 10;

type MovingServices = Pick<Services, 'catalog' | 'txns' | 'fs'>;

/** The catalog as sessions see it: renames that were interrupted come to their end before anybody works with what they renamed. */
export function finishingMoves(services: MovingServices): CatalogService {
  const { catalog } = services;
  return layeredCatalog(catalog, {
    async getTable(request) {
      for (let look = 0; look < MANY_LOOKS; look++) {
        const answer = await catalog.getTable(request);
        const { table } = answer;
        const move = table && (await abandonedMove(services, table));
        if (table === undefined || move === undefined) return answer;
        const [database, name] = move.oldName.split('.');
        await finish(services.fs, move, async () => await locationIs(move.from, catalog.getTable({ database, name })));
        const { database: now } = table;
        await unlessChanged(
          catalog.alterTable({ database: now, name: table.name, table: arrived(table), ...expected(table) }),
        );
      }
      throw new BugError(`the folder of ${request.database}.${request.name} does not come to rest`);
    },
    async getPartitions(request) {
      const { database, table } = request;
      for (let look = 0; look < MANY_LOOKS; look++) {
        const answer = await catalog.getPartitions(request);
        let isChanged = false;
        for (const partition of answer.partitions) {
          const move = await abandonedMove(services, partition);
          if (move === undefined) continue;
          isChanged = true;
          const { partitions } = await catalog.getPartitions({ database, table, names: [move.oldName] });
          await finish(services.fs, move, async () => partitions.some(({ sd }) => sd?.location === move.from));
          const names = [move.newName];
          await unlessChanged(
            catalog.alterPartitions({
              database,
              table,
              names,
              partitions: [arrived(partition)],
              ...expected(partition),
            }),
          );
        }
        if (!isChanged) return answer;
      }
      throw new BugError(`the partitions of ${database}.${table} do not come to rest`);
    },
  });
}

/** The move of somebody who will not finish it. */
async function abandonedMove({ txns }: MovingServices, { parameters }: Described): Promise<FolderMove | undefined> {
  const text = parameters[MOVING];
  if (text === undefined) return undefined;
  const { txnId, ...move }: FolderMove & { txnId: string } = JSON.parse(text);
  const { states } = await txns.getTxnStates({ txnIds: [BigInt(txnId)] });
  return states[0] === TxnState.TXN_STATE_OPEN ? undefined : move;
}

/** `isAnothers`: a table or partition of the old name was made there since; then nothing was in the folder before. */
async function finish(fs: FileSystem, { from, to }: FolderMove, isAnothers: () => Promise<boolean>): Promise<void> {
  const isThere = (await fs.stat(to)) !== undefined;
  if (isThere && (await fs.list(to)).length > 0) return;
  if ((await fs.stat(from)) === undefined || (await isAnothers())) return;
  if (isThere) await fs.delete(to);
  try {
    await fs.rename(from, to);
  } catch (error) {
    // Somebody else was quicker.
    if ((await fs.stat(to)) === undefined) throw error;
  }
}

async function locationIs(location: string, answer: ReturnType<CatalogService['getTable']>): Promise<boolean> {
  try {
    return (await answer).table?.sd?.location === location;
  } catch (error) {
    if (error instanceof SkepError && error.code === 'NO_SUCH_OBJECT') return false;
    throw error;
  }
}

function arrived<T extends Described>(definition: T): T {
  const { [MOVING]: _, ...parameters } = definition.parameters;
  return { ...definition, parameters };
}

const expected = ({ parameters }: Described) => ({
  expectedParameterKey: MOVING,
  expectedParameterValue: parameters[MOVING],
});

/** Somebody else has finished it, and perhaps renamed it again. */
async function unlessChanged(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof SkepError && ['INVALID_OPERATION', 'NO_SUCH_OBJECT'].includes(error.code))) throw error;
  }
}
