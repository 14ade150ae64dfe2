import { randomBytes } from 'node:crypto';
import type { Configuration } from '@skep/config';
import { flightBinding } from '@skep/flight';
import { readTokenTable, type ServeOptions, serve } from '@skep/rpc';
import { QueryEngine, type Services } from '@skep/sql';
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
  /** What goes wrong in the background, one line each. */
  readonly log: (message: string) => void;
}

export interface RunningData {
  /** HOST:PORT it listens on. */
  readonly address: string;
  /** New calls are refused, running ones may end; snapshots are given up, clients' transactions rolled back. */
  close(graceMs?: number): Promise<void>;
}

const TICKET_MS = 600_000;
const MAX_HELD = 1000;
const KEY_BYTES = 32;

/** Serves the file-format layer over Arrow Flight. */
export async function serveData(options: ServeDataOptions): Promise<RunningData> {
  const { services, conf, ticketMs = TICKET_MS, maxHeld = MAX_HELD, log } = options;
  const tokensFile = options.serve.identity?.tokensFile;
  const tokens = tokensFile === undefined ? undefined : await readTokenTable(tokensFile);
  const source = new TableSource({ services, conf, engine: new QueryEngine(conf), ticketMs, maxHeld, log });
  const binding = flightBinding({
    source,
    ticketKey: options.ticketKey ?? randomBytes(KEY_BYTES),
    locations: options.advertise ?? [],
    tokens,
    now: () => services.clock.now(),
  });
  const server = await serve([binding], { clock: services.clock, ...options.serve });
  return {
    address: server.address,
    async close(graceMs) {
      await server.close(graceMs);
      await source.close();
    },
  };
}
