import { Catalog } from '@skep/catalog';
import { CompactionQueue } from '@skep/compactor';
import { LockManager, releaseStatements } from '@skep/lock-manager';
import type { Database } from '@skep/metadb';
import type { CatalogService, CompactionService, LockService, TransactionService } from '@skep/rpc';
import { type TxnConf, TxnManager } from '@skep/txn-manager';
import { catalogFacts } from '../../../apps/metastore/src/catalog-facts.js';
import { processDatabase } from './process-database.js';
import type { SimProcess } from './sim-process.js';

export interface SimServices {
  readonly catalog: CatalogService;
  readonly txns: TransactionService;
  readonly locks: LockService;
  readonly compactions: CompactionService;
}

export interface MetastoreOptions {
  readonly database: Database;
  /** The database's time is this process's. */
  readonly ownTime: boolean;
  readonly host: string;
  readonly isAlive: (agentInfo: string) => boolean;
  readonly conf: Partial<TxnConf>;
  /** How the services reach one another where each is in a process of its own; absent: all are in this one. */
  readonly elsewhere?: SimServices | undefined;
  /** Breaks them on purpose. */
  readonly sabotage?: ((services: SimServices) => SimServices) | undefined;
}

/** The services of one metastore process on the shared database, in memory that goes with it. */
export function metastoreServices(process: SimProcess, options: MetastoreOptions): SimServices {
  const db = processDatabase(process, options.database, options.ownTime);
  const { clock } = process;
  const { host, isAlive, conf, elsewhere, sabotage = (services) => services } = options;
  const others = () => elsewhere ?? services;
  // Broken ones are to be asked, each by the other.
  const areTogether = elsewhere === undefined && options.sabotage === undefined;
  const releasing = areTogether ? releaseStatements : undefined;
  const txns = new TxnManager({ db, clock, host, isAlive, conf, releasing, locks: () => others().locks });
  const localTxns = areTogether ? txns : undefined;
  const services: SimServices = sabotage({
    catalog: new Catalog(db, undefined, catalogFacts),
    txns,
    locks: new LockManager({ db, clock, conf, localTxns, txns: () => others().txns }),
    compactions: new CompactionQueue({
      db,
      clock,
      txns: () => others().txns,
      poolTimeoutMs: 12 * 3_600_000,
      retention: { succeeded: 3, failed: 3, refused: 3, didNotInitiate: 2, timeoutMs: 7 * 24 * 3_600_000 },
    }),
  });
  return services;
}
