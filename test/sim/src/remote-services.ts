import { SkepError } from '@skep/core';
import { UnreachableError } from '@skep/rpc';
import { IDEMPOTENT_METHODS } from '../../../packages/rpc/src/gen/idempotent-methods.js';
import type { Faults } from './faults.js';
import type { SimServices } from './metastore-process.js';
import type { SimProcess } from './sim-process.js';

export interface RunningMetastore {
  readonly process: SimProcess;
  readonly services: SimServices;
}

/** The metastores that run now. */
export interface Cluster {
  readonly metastores: readonly RunningMetastore[];
}

/** The connection broke, or nobody was there. */
class LostCall extends SkepError {
  constructor(readonly notBegun: boolean) {
    super('LOST', 'unavailable', 'lost');
  }
}

const SERVICES = {
  catalog: 'CatalogService',
  txns: 'TransactionService',
  locks: 'LockService',
  compactions: 'CompactionService',
} as const;
const MAX_ATTEMPTS = 9;
/** The second of two calls comes so much later, at most. */
const TWICE_MS = 100;

const pathOf = (service: keyof SimServices, method: string): string =>
  `/skep.v1.${SERVICES[service]}/${method[0].toUpperCase()}${method.slice(1)}`;

type Method = (request: unknown) => Promise<unknown>;

/** The services as another process sees them, by connections that break: what is idempotent is asked again (rpc/connect.ts). */
export function remoteServices(process: SimProcess, cluster: Cluster, faults: Faults): SimServices {
  const client = new Client(process, cluster, faults);
  const of = (name: keyof SimServices) =>
    new Proxy(
      {},
      {
        get: (_, method) =>
          typeof method === 'string' ? (request: unknown) => client.call(name, method, request) : undefined,
      },
    );
  return {
    catalog: of('catalog'),
    txns: of('txns'),
    locks: of('locks'),
    compactions: of('compactions'),
  } as SimServices;
}

class Client {
  private current: RunningMetastore | undefined;

  constructor(
    private readonly process: SimProcess,
    private readonly cluster: Cluster,
    private readonly faults: Faults,
  ) {}

  async call(service: keyof SimServices, method: string, request: unknown): Promise<unknown> {
    const path = pathOf(service, method);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.attempt(service, method, structuredClone(request));
      } catch (error) {
        if (!(error instanceof LostCall)) throw error;
        this.process.sim.note(this.process.name, `LOST ${method}`);
        this.current = undefined;
        const mayRepeat = error.notBegun || IDEMPOTENT_METHODS.has(path);
        if (attempt >= MAX_ATTEMPTS || !mayRepeat) throw new UnreachableError('sim', `${path}: lost`);
        await this.process.clock.sleep(Math.min(2000, 100 * 2 ** attempt));
      }
    }
  }

  private async attempt(service: keyof SimServices, method: string, request: unknown): Promise<unknown> {
    const { process, faults } = this;
    const { sim } = process;
    const { random } = sim;
    await process.step(`-> ${method}`);
    const metastore = this.server();
    const serve = () => {
      const target = metastore.services[service] as unknown as Record<string, Method>;
      return metastore.process.hear(target[method](request));
    };
    const serveLater = (how: string, withinMs: number) => {
      const { name } = metastore.process;
      sim.delay(random.between(0, withinMs)).then(async () => {
        if (!metastore.process.isAlive) return;
        sim.note(name, `${how} ${method} of ${process.name}`);
        await serve().catch((error: unknown) => sim.note(name, `${how} ${method}: ${String(error)}`));
      });
    };
    if (random.chance(faults.lostCall)) throw new LostCall(false);
    if (random.chance(faults.lateCall)) {
      serveLater('LATE', faults.latestMs);
      throw new LostCall(false);
    }
    if (IDEMPOTENT_METHODS.has(pathOf(service, method)) && random.chance(faults.twice)) serveLater('AGAIN', TWICE_MS);
    const gone = metastore.process.gone.then(() => {
      throw new LostCall(false);
    });
    const answer = await process.hear(Promise.race([serve(), gone]));
    await process.step(`<- ${method}`);
    if (random.chance(faults.lostAnswer)) throw new LostCall(false);
    return structuredClone(answer);
  }

  private server(): RunningMetastore {
    if (this.current?.process.isAlive) return this.current;
    const { metastores } = this.cluster;
    if (metastores.length === 0) throw new LostCall(true);
    this.current = this.process.sim.random.pick(metastores);
    return this.current;
  }
}
