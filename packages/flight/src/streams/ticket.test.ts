import { describe, expect, it } from 'vitest';
import { type SplitTicket, TicketSigner } from './ticket.js';

const ticket: SplitTicket = {
  database: 'default',
  table: 't',
  user: 'anna',
  txnId: 9007199254740993n,
  expiresMs: 1,
  columns: ['a'],
  type: 'struct<a:int>',
  filter: { op: '=', column: 'a', value: 1 },
  timestamps: 'ns',
  rowIds: false,
  bytes: 1000,
  handle: { split: { writeIdRange: [1n, 2n] } },
};

describe('tickets', () => {
  it('come back as they were, at any service with the key', () => {
    const bytes = new TicketSigner(Buffer.from('key')).sign(ticket);
    expect(new TicketSigner(Buffer.from('key')).open(bytes)).toEqual(ticket);
  });
  it('of others, or changed anywhere, are refused', () => {
    const signer = new TicketSigner(Buffer.from('key'));
    const bytes = signer.sign(ticket);
    expect(() => new TicketSigner(Buffer.from('other')).open(bytes)).toThrow(/was not made here/);
    expect(() => signer.open(Buffer.alloc(0))).toThrow(/was not made here/);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] ^= 1;
      expect(() => signer.open(changed)).toThrow(/was not made here/);
    }
  });
});
