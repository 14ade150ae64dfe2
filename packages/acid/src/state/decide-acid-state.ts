import { LONG_MIN, SkepError, type ValidTxnList, type ValidWriteIdList } from '@skep/core';
import {
  type AcidDirectoryName,
  type BaseName,
  type DeltaName,
  parseAcidDirectoryName,
} from '../layout/directory-name.js';

/** The snapshot is older than the oldest base that is left (ErrorMsg.ACID_NOT_ENOUGH_HISTORY). */
export class NotEnoughHistoryError extends SkepError {
  constructor(writeIds: ValidWriteIdList, oldestBase: string) {
    const minOpen = writeIds.exceptions.length > 0 ? writeIds.exceptions[0] : 'x';
    const what = `Not enough history available for (${writeIds.highWatermark},${minOpen}).`;
    super('NOT_ENOUGH_HISTORY', 'conflict', `${what}  Oldest available base: ${oldestBase}`, { hiveCode: 10327 });
  }
}

/** A child folder of the table's or partition's folder. */
export interface AcidChild {
  readonly path: string;
  readonly name: string;
  /** Of bases: `_metadata_acid` says that a compaction wrote it (Hive 3.1, which had no `_v`). */
  readonly isMarkedCompacted?: boolean;
}

export interface AcidDecision {
  readonly base: (BaseName & AcidChild & { readonly isCompacted: boolean }) | undefined;
  readonly deltas: readonly (DeltaName & AcidChild)[];
  readonly obsolete: readonly string[];
  readonly aborted: readonly string[];
  readonly abortedWriteIds: readonly bigint[];
  readonly uncompactedAborts: boolean;
}

/**
 * AcidUtils.getAcidState: which base and deltas a reader with these lists uses, and what is obsolete or aborted. Pure:
 * `children` are the base and delta folders of the listing (others are ignored).
 */
export function decideAcidState(
  children: readonly AcidChild[],
  writeIds: ValidWriteIdList,
  txns: ValidTxnList,
): AcidDecision {
  const obsolete: string[] = [];
  const aborted: string[] = [];
  const abortedWriteIds = new Set<bigint>();
  const working: (DeltaName & AcidChild)[] = [];
  const bases: (BaseName & AcidChild & { isCompacted: boolean })[] = [];
  let uncompactedAborts = false;

  for (const child of children) {
    const name = parseAcidDirectoryName(child.name);
    if (name === undefined) continue;
    if (!isVisible(name, txns)) {
      if (txns.isTxnAborted(name.visibilityTxnId)) aborted.push(child.path);
      continue;
    }
    if (name.kind === 'base') {
      const isCompacted = name.visibilityTxnId > 0n || (child.isMarkedCompacted ?? false);
      if (!isCompacted && writeIds.isWriteIdAborted(name.writeId)) {
        aborted.push(child.path);
        abortedWriteIds.add(name.writeId);
      } else bases.push({ ...child, ...name, isCompacted });
      continue;
    }
    const abortedShare = writeIds.isWriteIdRangeAborted(name.minWriteId, name.maxWriteId);
    if (abortedShare === 'ALL') {
      aborted.push(child.path);
      for (const id of writeIds.abortedWriteIds) {
        if (id >= name.minWriteId && id <= name.maxWriteId) abortedWriteIds.add(id);
      }
      continue;
    }
    if (abortedShare === 'SOME') uncompactedAborts = true;
    if (writeIds.isWriteIdRangeValid(name.minWriteId, name.maxWriteId) !== 'NONE') working.push({ ...child, ...name });
  }

  const base = chooseBase(bases, writeIds, obsolete);
  const oldest = bases.reduce<(typeof bases)[number] | undefined>(
    (low, next) => (low === undefined || next.writeId < low.writeId ? next : low),
    undefined,
  );
  if (base === undefined && oldest?.isCompacted) throw new NotEnoughHistoryError(writeIds, oldest.path);
  const deltas = chooseDeltas(working, base?.writeId ?? 0n, writeIds, obsolete);
  return { base, deltas, obsolete, aborted, abortedWriteIds: [...abortedWriteIds], uncompactedAborts };
}

function isVisible(name: AcidDirectoryName, txns: ValidTxnList): boolean {
  return name.visibilityTxnId === 0n || txns.isTxnValid(name.visibilityTxnId);
}

/**
 * Hive also takes a base of an overwrite whose write id *is* the smallest open one (`<=` in AcidUtils.isValidBase), which
 * shows an uncommitted overwrite to readers that took no lock; here nothing open is ever visible.
 */
function isUsableBase(base: BaseName & { isCompacted: boolean }, writeIds: ValidWriteIdList): boolean {
  if (base.writeId === LONG_MIN) return true;
  return base.isCompacted ? writeIds.isValidBase(base.writeId) : writeIds.isWriteIdValid(base.writeId);
}

function chooseBase<B extends BaseName & AcidChild & { isCompacted: boolean }>(
  bases: readonly B[],
  writeIds: ValidWriteIdList,
  obsolete: string[],
): B | undefined {
  let chosen: B | undefined;
  for (const base of bases) {
    const isCandidate =
      chosen === undefined || base.writeId > chosen.writeId || (base.writeId === chosen.writeId && base.isCompacted);
    if (!isCandidate) obsolete.push(base.path);
    else if (isUsableBase(base, writeIds)) {
      if (chosen !== undefined) obsolete.push(chosen.path);
      chosen = base;
    }
  }
  return chosen;
}

function chooseDeltas<D extends DeltaName & AcidChild>(
  working: readonly D[],
  baseWriteId: bigint,
  writeIds: ValidWriteIdList,
  obsolete: string[],
): D[] {
  const taken: D[] = [];
  let current = baseWriteId;
  for (const next of [...working].sort(compareDeltas)) {
    const last = taken.at(-1);
    if (next.maxWriteId > current) {
      // Something in the range that the taken folders do not hold yet.
      if (writeIds.isWriteIdRangeValid(current + 1n, next.maxWriteId) === 'NONE') continue;
      taken.push(next);
      current = next.maxWriteId;
    } else if (next.maxWriteId === current && last?.statementId !== undefined) {
      // Several statements of one transaction.
      taken.push(next);
    } else if (
      last !== undefined &&
      next.minWriteId === last.minWriteId &&
      next.maxWriteId === last.maxWriteId &&
      next.statementId === last.statementId
    ) {
      // A delete delta beside its delta, both compacted.
      taken.push(next);
    } else obsolete.push(next.path);
  }
  return taken;
}

/** Wider ranges first (ParsedDeltaLight.compareTo). */
export function compareDeltas(a: DeltaName & { path: string }, b: DeltaName & { path: string }): number {
  if (a.minWriteId !== b.minWriteId) return a.minWriteId < b.minWriteId ? -1 : 1;
  if (a.maxWriteId !== b.maxWriteId) return a.maxWriteId > b.maxWriteId ? -1 : 1;
  const statement = (a.statementId ?? -1) - (b.statementId ?? -1);
  if (statement !== 0) return statement;
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
