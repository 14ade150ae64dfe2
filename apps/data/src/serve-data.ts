import { randomBytes } from 'node:crypto';
import { totalmem } from 'node:os';
import { compactionActions } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { flightBinding, flightTotals } from '@skep/flight';
import { readTokenTable, type ServeOptions, serve } from '@skep/rpc';
import { QueryEngine, type Services } from '@skep/sql';
import type { FigureSource } from '@skep/telemetry';
import type { Logger } from '@skep/telemetry/log';
import { ServedCompactions } from './compaction/served-compactions.js';
import { dataFigures } from './figures.js';
import { SqlStatements } from './sql-statements.js';
import { TableSource } from './table-source.js';

export interface ServeDataOptions {
  /** The metastore's services, here or elsewhere, and the files. */
  readonly services: Services;
  readonly conf: Configuration;
  readonly serve: ServeOptions;
  /** Signs tickets; services with the same key redeem each other's. Absent: random, for this process alone. */
  readonly ticketKey?: Uint8Array;
  /** How long tickets keep their snapshot. Default 10 min. */
  readonly ticketMs?: number;
  /** Where endpoints say that they can be read: `grpc://HOST:PORT`. */
  readonly advertise?: readonly string[];
  /** Snapshots, and transactions of clients, that are kept at once. Default 1,000 each. */
  readonly maxHeld?: number;
  /** Compactions that are written here at once for compactors elsewhere; 0: none, those actions are not offered. Default 2. */
  readonly compactions?: number;
  /** What streams of DoGet may hold together, about. Default: a quarter of the memory there is, at least 1 GiB. */
  readonly streamBytes?: number;
  readonly log: Logger;
}

export interface RunningData {
  /** HOST:PORT it listens on. */
  readonly address: string;
  /** What it measures. */
  readonly figures: readonly FigureSource[];
  /** New calls are refused, running ones may end; snapshots are given up, clients' transactions rolled back. */
  close(graceMs?: number): Promise<void>;
}

const TICKET_MS = 600_000;
const MAX_HELD = 1000;
const KEY_BYTES = 32;
/** One thread does it all. */
const COMPACTIONS = 2;
const LEAST_STREAM_BYTES = 1 << 30;
/** A batch of a client is a message: clients of Flight expect no limit, but one there has to be. */
const MAX_MESSAGE_BYTES = 512 << 20;

/** Of the container, where there is one (Node 20). */
function memoryBytes(): number {
  const most = process.constrainedMemory?.() ?? 0;
  return most > 0 ? Math.min(most, totalmem()) : totalmem();
}

/** Serves the file-format layer over Arrow Flight. */
export async function serveData(options: ServeDataOptions): Promise<RunningData> {
  const { services, conf, ticketMs = TICKET_MS, maxHeld = MAX_HELD, log } = options;
  const tokensFile = options.serve.identity?.tokensFile;
  const tokens = tokensFile === undefined ? undefined : await readTokenTable(tokensFile);
  let reachedAt = options.advertise?.[0];
  const source = new TableSource({
    services,
    conf,
    engine: new QueryEngine(conf),
    ticketMs,
    maxHeld,
    address: () => reachedAt ?? '',
    log,
  });
  const clock = options.serve.clock ?? services.clock;
  const { compactions: atOnce = COMPACTIONS } = options;
  const compactions = new ServedCompactions({ services, conf, clock, log, atOnce: Math.max(1, atOnce) });
  const sql = new SqlStatements({ services, conf, address: () => reachedAt ?? '', log });
  const totals = flightTotals();
  const binding = flightBinding({
    source,
    sql,
    actions: atOnce === 0 ? [] : compactionActions((caller) => compactions.filesFor(caller), clock),
    ticketKey: options.ticketKey ?? randomBytes(KEY_BYTES),
    locations: options.advertise ?? [],
    tokens,
    totals,
    streamBytes: options.streamBytes ?? Math.max(LEAST_STREAM_BYTES, memoryBytes() / 4),
    now: () => services.clock.now(),
  });
  const server = await serve([binding], {
    clock: services.clock,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    ...options.serve,
  });
  reachedAt ??= server.address;
  return {
    address: server.address,
    figures: [dataFigures(totals, () => source.held())],
    async close(graceMs) {
      await server.close(graceMs);
      await compactions.close();
      await sql.close();
      await source.close();
    },
  };
}
