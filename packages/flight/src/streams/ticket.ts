import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TimestampForm } from '../arrow/options.js';
import { BadTicketError } from './errors.js';
import type { Json } from './json.js';

/** All that DoGet has to know: any service with the same key and the same files can redeem it. */
export interface SplitTicket {
  readonly database: string;
  readonly table: string;
  /** Whom it was given to; empty: nobody said. */
  readonly user: string;
  readonly txnId: bigint;
  readonly expiresMs: number;
  readonly columns: readonly string[];
  /** The schema of what DoGet streams, as ORC's type text. */
  readonly type: string;
  readonly filter: Json | undefined;
  readonly timestamps: TimestampForm;
  readonly rowIds: boolean;
  /** With rowIds: the snapshot, which goes with the rows. */
  readonly validTxns?: string;
  /** Of the files. */
  readonly bytes: number;
  readonly handle: unknown;
}

/** Version, HMAC-SHA256 of the rest, JSON in UTF-8 (bigints as {"$n": "…"}). */
const VERSION = 1;
const MAC_BYTES = 32;

/** Makes tickets and knows its own: the text in them names files, so nobody else may make any. */
export class TicketSigner {
  constructor(private readonly key: Uint8Array) {}

  sign(ticket: SplitTicket): Buffer {
    const text = Buffer.from(
      JSON.stringify(ticket, (_, value: unknown) => (typeof value === 'bigint' ? { $n: String(value) } : value)),
    );
    return Buffer.concat([Buffer.of(VERSION), this.mac(text), text]);
  }

  open(bytes: Uint8Array): SplitTicket {
    const text = Buffer.from(bytes.subarray(1 + MAC_BYTES));
    const isOurs =
      bytes.length > 1 + MAC_BYTES &&
      bytes[0] === VERSION &&
      timingSafeEqual(bytes.subarray(1, 1 + MAC_BYTES), this.mac(text));
    if (!isOurs) {
      throw new BadTicketError(
        'the ticket was not made here, nor by a service with the same --ticket-key: tickets come from GetFlightInfo',
      );
    }
    return JSON.parse(text.toString('utf8'), (_, value: unknown) => {
      const isBigint = typeof value === 'object' && value !== null && '$n' in value && Object.keys(value).length === 1;
      return isBigint ? BigInt(String(value.$n)) : value;
    }) as SplitTicket;
  }

  private mac(text: Uint8Array): Buffer {
    return createHmac('sha256', this.key).update(text).digest();
  }
}
