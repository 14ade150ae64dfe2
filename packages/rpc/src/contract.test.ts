import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { protoProblems } from '../../../scripts/proto-contract.mjs';

const PROTO = join(import.meta.dirname, '../../../proto');
const scratch = mkdtempSync(join(tmpdir(), 'skep-proto-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** What `npm run check proto` says of the contract after a change of lock.proto. */
function problemsAfter(change: (text: string) => string): string {
  cpSync(PROTO, scratch, { recursive: true });
  const file = join(scratch, 'skep/v1/lock.proto');
  const before = readFileSync(file, 'utf8');
  const after = change(before);
  expect(after === before && change !== same).toBe(false);
  writeFileSync(file, after);
  return protoProblems(scratch);
}
const same = (text: string) => text;

describe('the check of the contract', () => {
  it('has nothing to say of what is there', () => expect(problemsAfter(same)).toBe(''));

  it('lets a documented field be added', () => {
    const added = (text: string) =>
      text.replace('message LockRequest {', 'message LockRequest {\n  // New.\n  string more = 999;');
    expect(problemsAfter(added)).toBe('');
  });

  it('refuses a field without a comment', () => {
    const added = (text: string) =>
      text.replace('message LockRequest {', 'message LockRequest {\n  string more = 999;');
    expect(problemsAfter(added)).toContain('Field "more" should have a non-empty comment');
  });

  it('refuses another number, another type, a removed method', () => {
    expect(problemsAfter((text) => text.replace('int64 txn_id = 2;', 'int64 txn_id = 99;'))).toContain(
      'breaks clients',
    );
    expect(problemsAfter((text) => text.replace('int64 txn_id = 2;', 'string txn_id = 2;'))).toContain(
      'breaks clients',
    );
    const removed = (text: string) => text.replace(/ {2}rpc ShowLocks[^}]*}\n/, '');
    expect(problemsAfter(removed)).toContain('Previously present RPC "ShowLocks"');
  });
});
