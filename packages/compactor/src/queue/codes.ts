import { BugError } from '@skep/core';
import { CompactionState, CompactionType } from '@skep/rpc';

/** CQ_STATE and CC_STATE (org.apache.hadoop.hive.metastore.txn.TxnStore). */
const stateCodes: readonly (readonly [string, CompactionState])[] = [
  ['i', CompactionState.COMPACTION_STATE_INITIATED],
  ['w', CompactionState.COMPACTION_STATE_WORKING],
  ['r', CompactionState.COMPACTION_STATE_READY_FOR_CLEANING],
  ['f', CompactionState.COMPACTION_STATE_FAILED],
  ['s', CompactionState.COMPACTION_STATE_SUCCEEDED],
  ['a', CompactionState.COMPACTION_STATE_DID_NOT_INITIATE],
  ['c', CompactionState.COMPACTION_STATE_REFUSED],
  ['x', CompactionState.COMPACTION_STATE_ABORTED],
];

/** CQ_TYPE: major is `a`, minor is `i`. */
const typeCodes: readonly (readonly [string, CompactionType])[] = [
  ['a', CompactionType.COMPACTION_TYPE_MAJOR],
  ['i', CompactionType.COMPACTION_TYPE_MINOR],
  ['r', CompactionType.COMPACTION_TYPE_REBALANCE],
  ['c', CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP],
];

/** What SHOW COMPACTIONS and Hive's messages call a state (org.apache.hadoop.hive.metastore.txn.TxnStore). */
const stateWords: Readonly<Record<string, string>> = {
  i: 'initiated',
  w: 'working',
  r: 'ready for cleaning',
  f: 'failed',
  s: 'succeeded',
  a: 'did not initiate',
  c: 'refused',
  x: 'aborted',
};

export const stateName = (state: CompactionState): string => stateWords[stateCode(state)];
export const stateCode = (state: CompactionState): string => codeOf(stateCodes, state, 'state');
export const stateOf = (code: string): CompactionState => entryOf(stateCodes, code, 'state');
export const typeCode = (type: CompactionType): string => codeOf(typeCodes, type, 'type');
export const typeOf = (code: string): CompactionType => entryOf(typeCodes, code, 'type');

/** The pool of requests that name none is shown as `default` (Hive's COMPACTION_DEFAULT_POOL), and may be named so. */
export const poolOf = (name: string): string => (name.toLowerCase() === 'default' ? '' : name);

function codeOf<T>(codes: readonly (readonly [string, T])[], value: T, what: string): string {
  const found = codes.find(([, v]) => v === value);
  if (found === undefined) throw new BugError(`compaction ${what} ${String(value)} has no code`);
  return found[0];
}

function entryOf<T>(codes: readonly (readonly [string, T])[], code: string, what: string): T {
  const found = codes.find(([c]) => c === code);
  if (found === undefined) throw new BugError(`compaction ${what} code '${code}' is unknown`);
  return found[1];
}
