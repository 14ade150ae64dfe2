import { SkepError } from '@skep/core';
import type { Database, Tx } from '@skep/metadb';
import { BatchLanes } from '../../../packages/metadb/src/batch-lanes.js';
import type { SimProcess } from './sim-process.js';

class KilledError extends SkepError {
  constructor(name: string) {
    super('KILLED', 'bug', `${name} was killed within a database transaction`);
  }
}

/**
 * The shared database as one process sees it. Killed within a transaction, its transaction is rolled back. `ownTime`: its time is
 * the process's, as with SQLite; else all share the server's.
 */
export function processDatabase(process: SimProcess, shared: Database, ownTime: boolean): Database {
  const enter = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
    await process.step(what);
    const answer = await process.hear(run());
    await process.step(`${what} done`);
    return answer;
  };
  const watched = (tx: Tx): Tx =>
    new Proxy(tx, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        if (key === 'now' && ownTime) return async () => BigInt(process.clock.now());
        return (...args: unknown[]) => {
          process.burn();
          if (!process.isAlive) throw new KilledError(process.name);
          return value.apply(target, args);
        };
      },
    });
  const database: Database = {
    dialect: shared.dialect,
    clock: process.clock,
    path: shared.path,
    transaction: (fn, options) => enter('db write', () => shared.transaction((tx) => fn(watched(tx)), options)),
    run: (statements, options) => database.transaction((tx) => tx.runAll(statements), options),
    read: (fn, options) => enter('db read', () => shared.read((tx) => fn(watched(tx)), options)),
    load: () => shared.load(),
    close: async () => {},
  };
  // Its batches are late by the simulation's time, too.
  BatchLanes.of(database, process.clock);
  return database;
}
