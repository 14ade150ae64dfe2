import { getAcidState } from '@skep/acid';
import { Cleaner, type CompactorServices, recoverAbandoned, Worker } from '@skep/compactor';
import { ValidTxnList } from '@skep/core';
import type { Database } from '@skep/metadb';
import { type CatalogService, CompactionType, type Table } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import { completeWriteIds } from '../../../packages/compactor/src/write-id-lists.js';
import { finishingMoves } from '../../../packages/sql/src/session/folder-moves.js';
import { accountForFiles, type KnownFolder } from './account-for-files.js';
import { type History, type Place, placeName } from './history.js';
import { RENAMED_TABLES } from './known-tables.js';
import type { Simulation } from './simulation.js';
import { faultsOf, isInsertOnly, readRows } from './table-rows.js';

interface Folder {
  readonly place: Place;
  readonly name: string;
  readonly table: Table;
  readonly location: string;
}

const MANY_ROUNDS = 30;

/**
 * All clients and compactors are gone, and time has passed: nothing of them may be left in the way; every file is either of the
 * current state, or obsolete, or of an aborted transaction; and after a last compaction and cleaning only the current
 * ones remain.
 */
export async function checkEnd(
  sim: Simulation,
  db: Database,
  history: History,
  services: CompactorServices,
  files: FileSystem,
): Promise<void> {
  const patient = { ...services, conf: { ...services.conf, abortedTxnThreshold: 0, abortedTxnTimeThresholdMs: 0 } };
  await keepHouse(patient);
  await nothingHeld(sim, db);
  // As the next session finds them.
  const folders = await allFolders(sim, finishingMoves({ ...patient, fs: files }));
  const known = await Promise.all(folders.map((folder) => stateOf(patient, files, folder)));
  const others = await unregistered(patient, files, folders, history);
  const left = await rowsOf(db, 'SELECT CQ_TBLPROPERTIES FROM COMPACTION_QUEUE WHERE CQ_TBLPROPERTIES IS NOT NULL');
  await accountForFiles(sim, files, [...known, ...others], history, left);
  await rowsAreRight(sim, history, patient, files, folders, 'at the end');
  await compactAll(sim, patient, folders);
  await rowsAreRight(sim, history, patient, files, folders, 'after the last compaction');
  await onlyCurrent(sim, patient, files, folders, history);
  await nothingKept(sim, db, history, new Set(folders.map(({ name }) => name)));
}

async function keepHouse(services: CompactorServices): Promise<void> {
  await services.txns.runHousekeeping({ abortDeadHolders: true });
  await services.locks.removeExpiredLocks({});
  await services.compactions.revokeWorkers({ host: '', aliveWorkerIds: [], olderThanMs: 1n });
  await recoverAbandoned(services);
}

async function rowsOf(db: Database, sql: string): Promise<string[]> {
  const rows = await db.read((tx) => tx.all(sql));
  return rows.map((row) => Object.values(row).join(' '));
}

async function nothingHeld(sim: Simulation, db: Database): Promise<void> {
  const locks = await rowsOf(db, 'SELECT HL_LOCK_EXT_ID, HL_TXNID, HL_DB, HL_TABLE, HL_LOCK_STATE FROM HIVE_LOCKS');
  if (locks.length > 0) sim.violated(`locks are left: ${locks.join('; ')}`);
  const open = await rowsOf(db, "SELECT TXN_ID FROM TXNS WHERE TXN_STATE = 'o'");
  if (open.length > 0) sim.violated(`transactions are left open: ${open.join('; ')}`);
  const levels = await rowsOf(db, 'SELECT MHL_TXNID FROM MIN_HISTORY_LEVEL');
  if (levels.length > 0) sim.violated(`MIN_HISTORY_LEVEL has rows of ended transactions: ${levels.join('; ')}`);
  const working = await rowsOf(db, "SELECT CQ_ID, CQ_WORKER_ID FROM COMPACTION_QUEUE WHERE CQ_STATE = 'w'");
  if (working.length > 0) sim.violated(`compactions are with Workers that are gone: ${working.join('; ')}`);
}

async function allFolders(sim: Simulation, catalog: CatalogService): Promise<Folder[]> {
  const folders: Folder[] = [];
  const { names } = await catalog.listTables({ database: 'default', pattern: '*' });
  const renamed = names.filter((name) => RENAMED_TABLES.some((other) => other === name));
  if (renamed.length !== 1) sim.violated(`of r1 and r2 there is ${renamed.join(' and ') || 'none'}`);
  for (const name of names) {
    const { table } = await catalog.getTable({ database: 'default', name });
    if (table === undefined) continue;
    const root = table.sd?.location ?? '';
    if (table.partitionKeys.length === 0) {
      folders.push({ place: { table: name }, name: name === 'd' ? `d#${table.id}` : name, table, location: root });
    }
    const { partitions } = await catalog.getPartitions({ database: 'default', table: name, names: [] });
    const isRenamed = renamed.includes(name);
    if (isRenamed && partitions.length !== 1) sim.violated(`${name} has ${partitions.length} partitions instead of 1`);
    for (const { values, sd } of partitions) {
      const place = { table: name, partition: `p=${values[0]}` };
      folders.push({ place, name: isRenamed ? 'r' : placeName(place), table, location: sd?.location ?? '' });
    }
  }
  return folders;
}

/** What was aborted before the partition that it was to make was there. */
async function unregistered(
  services: CompactorServices,
  files: FileSystem,
  folders: readonly Folder[],
  history: History,
): Promise<KnownFolder[]> {
  const partition = folders.find(({ place }) => place.table === 't');
  if (partition === undefined) return [];
  const registered = new Set(folders.map(({ location }) => location));
  const others = (await files.list('file:/w/t')).filter(
    ({ path, name }) => !registered.has(path) && !history.dropped.has(`t/${name}`),
  );
  const known: KnownFolder[] = [];
  for (const { path } of others) {
    const state = await stateOf(services, files, { ...partition, location: path });
    known.push({ ...state, current: [] });
  }
  return known;
}

async function listsOf({ txns }: CompactorServices, table: string) {
  const { validTxns } = await txns.getValidTxns({});
  const answer = await txns.getValidWriteIds({ tables: [`default.${table}`], validTxns });
  return { validTxns, validWriteIds: answer.validWriteIds[0] };
}

async function stateOf(
  services: CompactorServices,
  files: FileSystem,
  { table, location }: Folder,
): Promise<KnownFolder & { readonly hasOriginals: boolean }> {
  const txns = ValidTxnList.parse((await services.txns.getValidTxns({})).validTxns);
  const writeIds = await completeWriteIds(services, `default.${table.name}`, txns);
  const state = await getAcidState(files, location, writeIds, txns, { insertOnly: isInsertOnly(table) });
  const current = [...state.deltas.map((delta) => delta.path), ...(state.base === undefined ? [] : [state.base.path])];
  const gone = [...state.obsolete, ...state.aborted];
  return { location, current, gone, by: `${txns} ${writeIds}`, hasOriginals: state.originals.length > 0 };
}

async function rowsAreRight(
  sim: Simulation,
  history: History,
  services: CompactorServices,
  files: FileSystem,
  folders: readonly Folder[],
  when: string,
): Promise<void> {
  for (const { location, table, name } of folders) {
    if (history.isUnknown(name, true)) continue;
    const lists = await listsOf(services, table.name);
    const rows = await readRows(files, location, lists, table);
    const found = rows.map(({ row }) => row).sort((a, b) => a - b);
    const expected = await history.final(name);
    for (const fault of faultsOf(rows)) sim.violated(`${when} ${name}: ${fault}`);
    if (found.join() !== expected.join()) {
      sim.violated(`${when} ${name} has ${found} instead of ${expected} by ${lists.validTxns} ${lists.validWriteIds}`);
    }
  }
}

async function compactAll(sim: Simulation, services: CompactorServices, folders: readonly Folder[]): Promise<void> {
  const worker = new Worker(services, 'simhost-1');
  const cleaner = new Cleaner(services);
  const settle = async () => {
    for (let round = 0; round < MANY_ROUNDS; round++) {
      const worked = await worker.runOnce();
      await sim.delay(100_000);
      const removed = await cleaner.runOnce();
      const { compactions } = await services.compactions.showCompactions({ limit: 0n });
      const isPending = compactions.some((c) => c.endMs === undefined || c.endMs === 0n);
      if (!worked && removed === 0 && !isPending) return;
    }
  };
  await settle();
  for (const { place } of folders) {
    await services.compactions.compact({
      database: 'default',
      table: place.table,
      partition: place.partition,
      type: CompactionType.COMPACTION_TYPE_MAJOR,
      runAs: '',
      properties: {},
      initiatorId: 'end-manual',
      initiatorVersion: '',
      poolName: '',
      orderBy: '',
    });
  }
  await settle();
  await sim.delay(1_000_000);
  await keepHouse(services);
  await settle();
}

/** A base or a delta a folder, and nothing else anywhere. */
async function onlyCurrent(
  sim: Simulation,
  services: CompactorServices,
  files: FileSystem,
  folders: readonly Folder[],
  history: History,
): Promise<void> {
  const known = await Promise.all(folders.map((folder) => stateOf(services, files, folder)));
  for (const { location, current, hasOriginals } of known) {
    if (current.length > 1) sim.violated(`the last compaction left ${current.join(', ')}`);
    if (hasOriginals) sim.violated(`${location} has files outside its folders`);
  }
  await accountForFiles(
    sim,
    files,
    known.map((folder) => ({ ...folder, gone: [] })),
    history,
  );
  const there = new Set(folders.map(({ name }) => name));
  for (const name of history.gone.keys()) {
    // Made again by who waited for the drop.
    if (there.has(name)) continue;
    const folder = `file:/w/${name}`;
    const rest = (await files.stat(folder)) === undefined ? [] : await files.list(folder);
    if (rest.length > 0) sim.violated(`${folder} was dropped and has ${rest.map((entry) => entry.name).join(', ')}`);
  }
}

async function nothingKept(sim: Simulation, db: Database, history: History, there: ReadonlySet<string>): Promise<void> {
  const queue = await rowsOf(
    db,
    'SELECT CQ_ID, CQ_TABLE, CQ_PARTITION, CQ_STATE, CQ_ERROR_MESSAGE FROM COMPACTION_QUEUE',
  );
  if (queue.length > 0) sim.violated(`the queue is not empty: ${queue.join('; ')}`);
  const components = await db.read((tx) =>
    tx.all<{ TXN: bigint; TBL: string; PART: string | null; OP: string; W: bigint | null }>(
      'SELECT TC_TXNID AS TXN, TC_TABLE AS TBL, TC_PARTITION AS PART, TC_OPERATION_TYPE AS OP, TC_WRITEID AS W FROM TXN_COMPONENTS',
    ),
  );
  for (const { TXN, TBL, PART, OP, W } of components) {
    if (TBL === 'd' && ![...there].some((name) => name.startsWith('d#'))) continue;
    const place = `${TBL}/${PART ?? ''}`;
    if (PART !== null && history.isUnknown(place, there.has(place))) continue;
    sim.violated(
      `the abort of txnid:${TXN} is not forgotten: it wrote ${TBL}/${PART ?? ''} (${OP}, write id ${W ?? 'none'})`,
    );
  }
}
