import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  bindService,
  connect,
  DataOperation,
  LockLevel,
  LockRequest,
  type LockService,
  LockServiceService,
  LockState,
  LockType,
  serve,
} from '@skep/rpc';
import { cpuMsOf } from './cpu.js';
import { textTable } from './statistics.js';

const OPTIONS = {
  clients: { type: 'string', default: '8' },
  /** Calls that each client has under way at once. */
  'at-once': { type: 'string', default: '1' },
  seconds: { type: 'string', default: '5' },
  rounds: { type: 'string', default: '3' },
  /** Of the process that serves. */
  serve: { type: 'boolean', default: false },
} as const;

/** What a call costs beyond what it is for: requests for a lock that are answered at once, by a process of its own. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values.serve) return serveLocks();
  const [clients, atOnce, seconds] = [values.clients, values['at-once'], values.seconds].map(Number);
  const lines: string[][] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    // In turns: what else the machine does is the same for both.
    for (const shareStream of [true, false]) lines.push(await measure({ clients, atOnce, seconds, shareStream }));
  }
  const head = ['', 'clients', 'at once', 'calls/s', 'client µs', 'server µs'];
  process.stdout.write(`${textTable(head, lines)}\n`);
  return 0;
}

const REQUEST = LockRequest.fromPartial({
  user: 'bench',
  host: 'bench.example.org',
  agentInfo: 'bench',
  txnId: 1_000_000n,
  components: [
    {
      type: LockType.LOCK_TYPE_EXCL_WRITE,
      level: LockLevel.LOCK_LEVEL_TABLE,
      database: 'default',
      table: 'bench_0',
      operation: DataOperation.DATA_OPERATION_UPDATE,
      isTransactional: true,
    },
  ],
});

interface Load {
  readonly clients: number;
  readonly atOnce: number;
  readonly seconds: number;
  readonly shareStream: boolean;
}

async function measure({ clients, atOnce, seconds, shareStream }: Load): Promise<string[]> {
  const child = fork(fileURLToPath(import.meta.url), ['--serve']);
  try {
    const [address] = (await once(child, 'message')) as [string];
    const connections = Array.from({ length: clients }, (_, i) =>
      // Channels of equal options share one connection: these differ in how long a ping may take.
      connect(LockServiceService, address, { user: 'bench', shareStream, keepalive: { timeoutMs: 10_000 + i } }),
    );
    const run = async (untilMs: number): Promise<number> => {
      let calls = 0;
      const work = async ({ service }: (typeof connections)[number]) => {
        while (performance.now() < untilMs) {
          await service.lock(REQUEST);
          calls++;
        }
      };
      await Promise.all(connections.flatMap((connection) => Array.from({ length: atOnce }, () => work(connection))));
      return calls;
    };
    await run(performance.now() + 1000);
    const [before, start] = [cpuOf(child), performance.now()];
    const calls = await run(start + seconds * 1000);
    const [after, tookMs] = [cpuOf(child), performance.now() - start];
    for (const { close } of connections) close();
    const us = (ms: number) => ((ms * 1000) / calls).toFixed(1);
    return [
      shareStream ? 'on one stream' : 'by themselves',
      String(clients),
      String(atOnce),
      ((calls * 1000) / tookMs).toFixed(0),
      us(after.clientMs - before.clientMs),
      us(after.serverMs - before.serverMs),
    ];
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

function cpuOf(child: ChildProcess): { readonly clientMs: number; readonly serverMs: number } {
  const { user, system } = process.cpuUsage();
  return { clientMs: (user + system) / 1000, serverMs: cpuMsOf(child.pid) };
}

async function serveLocks(): Promise<number> {
  const answer = { lockId: 1n, state: LockState.LOCK_STATE_ACQUIRED, errorMessage: '' };
  const methods = Object.keys(LockServiceService).map((name) => [name, async () => ({})]);
  const lock = async () => {
    // As of work that waits for something.
    await nextTurn();
    return answer;
  };
  const server = await serve([
    bindService(LockServiceService, { ...Object.fromEntries(methods), lock } as unknown as LockService),
  ]);
  process.send?.(server.address);
  await once(process, 'disconnect');
  await server.close(0);
  return 0;
}

if (process.argv.includes('--serve')) await main(process.argv.slice(2));
