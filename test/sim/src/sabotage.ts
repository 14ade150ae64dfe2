import { LONG_MAX, ValidTxnList } from '@skep/core';
import type { SimServices } from './metastore-process.js';

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

/** Services that break a rule each: the checks must notice (sim.test.ts). */
export const SABOTAGES: Readonly<Record<string, (services: SimServices) => SimServices>> = {
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
  'an abort is forgotten before its files are gone': (services) =>
    changed(services, {
      txns: {
        abortTxns: async (request) => {
          const answer = await services.txns.abortTxns(request);
          for (const [table, partition] of [['u'], ['m'], ['t', 'p=a'], ['t', 'p=b']]) {
            const resource = { database: 'default', table, partition };
            const all = { highestWriteId: LONG_MAX, abortedWriteIds: [], allAbortedBelow: true };
            await services.txns.markCleaned({ resource, ...all });
          }
          return answer;
        },
      },
    }),
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
};
