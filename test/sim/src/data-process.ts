import {
  type Act,
  type CompactionAction,
  type CompactionFiles,
  compactionActions,
  remoteCompactionFiles,
} from '@skep/compactor';
import { Configuration } from '@skep/config';
import { CallEndedError, UnreachableError } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import type { Logger } from '@skep/telemetry/log';
import { ServedCompactions } from '../../../apps/data/src/compaction/served-compactions.js';
import type { Faults } from './faults.js';
import type { SimServices } from './metastore-process.js';
import type { SimProcess } from './sim-process.js';

export interface RunningData {
  readonly process: SimProcess;
  readonly actions: readonly CompactionAction[];
}

/** The data service of a process: what compactions need of its files. */
export function dataService(process: SimProcess, services: SimServices, fs: FileSystem, log: Logger): RunningData {
  const { clock } = process;
  const conf = new Configuration();
  const served = new ServedCompactions({ services: { ...services, fs }, conf, clock, log, atOnce: 2 });
  return { process, actions: compactionActions((caller) => served.filesFor(caller), clock) };
}

/** The data services that run now. */
export interface DataServices {
  readonly datas: readonly RunningData[];
}

/** Files as a compactor elsewhere has them, by connections that break. */
export function remoteFiles(process: SimProcess, cluster: DataServices, faults: Faults): CompactionFiles {
  const act: Act = (type, body, options) => stream(process, cluster, faults, type, body, options?.signal);
  return remoteCompactionFiles(act, 'sim', process.clock);
}

async function* stream(
  process: SimProcess,
  { datas }: DataServices,
  faults: Faults,
  type: string,
  body: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const { sim } = process;
  const { random } = sim;
  const lost = (why: string) => {
    sim.note(process.name, `LOST ${type}: ${why}`);
    return new UnreachableError('sim', `${type}: lost`);
  };
  await process.step(`-> ${type}`);
  signal?.throwIfAborted();
  if (datas.length === 0) throw lost('nobody is there');
  const server = random.pick([...datas]);
  if (random.chance(faults.lostCall)) throw lost('on its way');
  const call = new AbortController();
  // The service hears later that its client is gone, or not wants it any more: so long it goes on.
  const hangUp = () => {
    sim.delay(random.between(0, random.chance(0.5) ? 10 : faults.latestMs)).then(() => {
      if (server.process.isAlive) call.abort(new CallEndedError('CANCELLED', 'the client gave up'));
    });
  };
  signal?.addEventListener('abort', hangUp, { once: true });
  process.died.then(hangUp);
  const action = server.actions.find((one) => one.type === type);
  if (action === undefined) throw new TypeError(type);
  const answers = action.run(body, { user: '', signal: call.signal })[Symbol.asyncIterator]();
  for (;;) {
    const next = server.process.hear(answers.next());
    const step = await process.hear(Promise.race([next, server.process.gone.then(() => undefined)]));
    if (step === undefined) {
      hangUp();
      throw lost('the service is gone');
    }
    await process.step(`<- ${type}`);
    if (random.chance(faults.lostAnswer)) {
      hangUp();
      throw lost('on its way back');
    }
    if (step.done === true) return;
    yield step.value;
  }
}
