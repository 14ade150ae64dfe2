import { LONG_MAX, ValidTxnList } from '@skep/core';
import { DataOperation, LockState, TxnAbortedError } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import type { Faults } from './faults.js';
import type { SimServices } from './metastore-process.js';

/** Breaks services, or the files as processes see them, on purpose: the checks must notice (sim.test.ts). */
export interface Sabotage {
  readonly services?: (services: SimServices) => SimServices;
  readonly files?: (files: FileSystem) => FileSystem;
  /** Where it makes a difference. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Of the clients' statements most go there; absent: in some runs, anywhere. */
  readonly hot?: string;
  /** What has to happen for it. */
  readonly faults?: Partial<Faults>;
  /** How long the loops of compactors rest. */
  readonly restMs?: number;
}

type Changes = { readonly [S in keyof SimServices]?: Partial<SimServices[S]> };

function changed(services: SimServices, changes: Changes): SimServices {
  const one = <S extends object>(service: S, methods: Partial<S> | undefined): S =>
    new Proxy(service, {
      get(target, key) {
        const replaced: unknown = methods && Reflect.get(methods, key);
        if (replaced !== undefined) return replaced;
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  return {
    catalog: one(services.catalog, changes.catalog),
    txns: one(services.txns, changes.txns),
    locks: one(services.locks, changes.locks),
    compactions: one(services.compactions, changes.compactions),
  };
}

const BROKEN_SERVICES: Readonly<Record<string, (services: SimServices) => SimServices>> = {
  'no conflict is found, at a commit or before': (services) =>
    changed(services, {
      txns: {
        commitTxn: ({ txnId }) => services.txns.commitTxn({ txnId }),
        getLatestConflictingCommit: async () => ({}),
      },
    }),
  'the Cleaner waits for no reader': (services) =>
    changed(services, {
      txns: {
        getCleanerWatermark: async () => {
          const { validTxns } = await services.txns.getValidTxns({});
          const list = ValidTxnList.parse(validTxns);
          const minOpenTxnId = list.highWatermark + 1n;
          const open = list.openTxns;
          const all = ValidTxnList.of(list.highWatermark, { open, aborted: list.abortedTxns, minOpenTxn: LONG_MAX });
          return { minOpenTxnId, validTxns: all.toString() };
        },
      },
    }),
  'a commit is answered before it is kept': (services) => {
    let count = 0;
    return changed(services, {
      txns: {
        commitTxn: (request) =>
          ++count % 7 === 0
            ? Promise.resolve({ commitId: request.txnId, commitTimeMs: 0n })
            : services.txns.commitTxn(request),
      },
    });
  },
  'a snapshot sees what is not committed': (services) =>
    changed(services, {
      txns: {
        getValidTxns: async (request) => {
          const list = ValidTxnList.parse((await services.txns.getValidTxns(request)).validTxns);
          return { validTxns: ValidTxnList.of(list.highWatermark, { aborted: list.abortedTxns }).toString() };
        },
      },
    }),
  'an abort is forgotten before its files are gone': (services) => {
    const forget = async () => {
      for (const [table, partition] of [['u'], ['m'], ['t'], ['t', 'p=a'], ['t', 'p=b']]) {
        const resource = { database: 'default', table, partition };
        const all = { highestWriteId: LONG_MAX, abortedWriteIds: [], allAbortedBelow: true };
        await services.txns.markCleaned({ resource, ...all });
      }
    };
    return changed(services, {
      txns: {
        abortTxns: async (request) => {
          const answer = await services.txns.abortTxns(request);
          await forget();
          return answer;
        },
        // Whoever was killed leaves files.
        runHousekeeping: async (request) => {
          const answer = await services.txns.runHousekeeping(request);
          if (answer.deadHolderTxnIds.length + answer.timedOutTxnIds.length > 0) await forget();
          return answer;
        },
      },
    });
  },
  'locks are granted to everybody': (services) =>
    changed(services, {
      locks: {
        lock: async (request) => {
          const components = request.components.map((component) => ({ ...component, type: 1 }));
          return await services.locks.lock({ ...request, components });
        },
      },
    }),
  'locks are never released': (services) =>
    changed(services, {
      locks: { releaseTxnLocks: async () => ({}), removeExpiredLocks: async () => ({ removedLockIds: [] }) },
    }),
  'a request goes to two Workers': (services) =>
    changed(services, {
      compactions: {
        findNextCompact: async (request) => {
          const answer = await services.compactions.findNextCompact(request);
          if (answer.job !== undefined) {
            await services.compactions.revokeWorkers({ host: '', aliveWorkerIds: [], olderThanMs: 0n });
          }
          return answer;
        },
      },
    }),
  'write ids are given before the locks': (services) =>
    changed(services, {
      locks: {
        lock: async (request) => {
          const written = request.components.filter(
            ({ operation }) =>
              operation >= DataOperation.DATA_OPERATION_INSERT && operation <= DataOperation.DATA_OPERATION_DELETE,
          );
          for (const { database, table = '' } of written) {
            const ids = { txnIds: [request.txnId ?? 0n], database, table, reallocate: false };
            if (request.txnId !== undefined) await services.txns.allocateTableWriteIds(ids);
          }
          // Long before.
          for (let i = 0; i < 5 && written.length > 0; i++) await services.txns.showTxns({});
          return await services.locks.lock(request);
        },
      },
    }),
  'a reader says that it needs nothing of its tables': (services) =>
    changed(services, {
      txns: {
        addMinHistoryWriteIds: (request) =>
          services.txns.addMinHistoryWriteIds({
            ...request,
            tables: request.tables.map((table) => ({ ...table, table: 'another' })),
          }),
      },
    }),
  'a commit of an aborted transaction is answered as if it were one': (services) =>
    changed(services, {
      txns: {
        commitTxn: async (request) => {
          try {
            return await services.txns.commitTxn(request);
          } catch (error) {
            if (error instanceof TxnAbortedError) return { commitId: request.txnId, commitTimeMs: 0n };
            throw error;
          }
        },
      },
    }),
  'whoever waits for locks has them at the second look': (services) =>
    changed(services, {
      locks: {
        checkLock: async (request) => {
          const answer = await services.locks.checkLock(request);
          return { ...answer, state: LockState.LOCK_STATE_ACQUIRED };
        },
      },
    }),
  'nobody hears which partitions were written': (services) =>
    changed(services, { txns: { addDynamicPartitions: async () => ({}) } }),
};

/** The parameter of a definition whose folder is on its way (folder-moves.ts). */
const MOVING = 'skep.moving';

const BROKEN_RENAMES: Readonly<Record<string, (services: SimServices) => SimServices>> = {
  'a rename leaves write ids, conflicts and aborts under the old name': (services) =>
    changed(services, {
      catalog: {
        alterTable: async (request) => {
          const answer = await services.catalog.alterTable(request);
          const { database, name, table } = request;
          if (table === undefined || table.name === name) return answer;
          const resource = (of: string) => ({ database, table: of });
          await services.txns.renameResource({ from: resource(table.name), to: resource(name) });
          return answer;
        },
      },
    }),
  'a rename that was killed is not finished': (services) =>
    changed(services, {
      catalog: {
        alterTable: async (request) => {
          const { [MOVING]: _, ...parameters } = request.table?.parameters ?? {};
          const table = request.table && { ...request.table, parameters };
          return await services.catalog.alterTable({ ...request, table });
        },
      },
    }),
};

const BROKEN_FILES: Readonly<Record<string, (files: FileSystem) => FileSystem>> = {
  'deletes are never removed': (files) => ({
    ...files,
    delete: async (path, options) => path.includes('/delete_delta_') || (await files.delete(path, options)),
  }),
  'files are begun under another name': (files) => ({
    ...files,
    create: async (path) => {
      if (path.includes('/base_')) await (await files.create(`${path}.new`)).close();
      return await files.create(path);
    },
  }),
};

/** Where and when rare ones make a difference. */
const RARE: Readonly<Record<string, Omit<Sabotage, 'services' | 'files'>>> = {
  'a reader says that it needs nothing of its tables': {
    settings: { 'hive.txn.use.minhistorywriteid': 'true' },
    hot: 'u',
    restMs: 500,
  },
  'write ids are given before the locks': { hot: 'u', faults: { latencyMs: 100 } },
};

const RENAMES = {
  hot: 'r',
  faults: { killEveryMs: 2000 },
  // Without locks of readers it keeps its folder.
  settings: { 'hive.acid.lockless.reads.enabled': 'false' },
};

/** A broken rule each. */
export const SABOTAGES: Readonly<Record<string, Sabotage>> = Object.fromEntries([
  ...Object.entries(BROKEN_SERVICES).map(([name, services]) => [name, { services, ...RARE[name] }] as const),
  ...Object.entries(BROKEN_RENAMES).map(([name, services]) => [name, { services, ...RENAMES }] as const),
  ...Object.entries(BROKEN_FILES).map(([name, files]) => [name, { files }] as const),
]);
