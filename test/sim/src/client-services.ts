import type { Effect, History } from './history.js';
import type { SimServices } from './metastore-process.js';

/** The services as one client uses them; they tell which transaction its statement runs in. */
export class ClientServices {
  readonly services: SimServices;
  /** The transaction that was opened last. */
  txnId = 0n;
  private writeId = 0n;
  private effects: readonly Omit<Effect, 'writeId'>[] = [];

  constructor(inner: SimServices, history: History) {
    const txns = new Proxy(inner.txns, {
      get: (target, method) => {
        if (method === 'openTxns') {
          return async (request: Parameters<SimServices['txns']['openTxns']>[0]) => {
            const answer = await target.openTxns(request);
            this.txnId = answer.txnIds[0];
            return answer;
          };
        }
        if (method === 'allocateTableWriteIds') {
          return async (request: Parameters<SimServices['txns']['allocateTableWriteIds']>[0]) => {
            const answer = await target.allocateTableWriteIds(request);
            this.writeId = answer.txnToWriteIds[0].writeId;
            return answer;
          };
        }
        if (method === 'commitTxn') {
          return (request: Parameters<SimServices['txns']['commitTxn']>[0]) => {
            // Before the commit, lest somebody reads what it made visible without the history knowing of it.
            for (const effect of this.effects) history.did(request.txnId, { ...effect, writeId: this.writeId });
            this.effects = [];
            return target.commitTxn(request);
          };
        }
        return Reflect.get(target, method);
      },
    });
    const catalog = new Proxy(inner.catalog, {
      get: (target, method) => {
        if (method !== 'dropTable') return Reflect.get(target, method);
        return async (request: Parameters<SimServices['catalog']['dropTable']>[0]) => {
          await history.dropsTable(request.name);
          return await target.dropTable(request);
        };
      },
    });
    this.services = { ...inner, txns, catalog };
  }

  /** Runs a statement that opens and commits its own transaction, and does this if it does. */
  async committing<T>(effects: readonly Omit<Effect, 'writeId'>[], run: () => Promise<T>): Promise<T> {
    this.effects = effects;
    try {
      return await run();
    } finally {
      this.effects = [];
    }
  }
}
