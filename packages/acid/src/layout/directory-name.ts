/**
 * Names of base and delta folders (org.apache.hadoop.hive.ql.io.AcidUtils). Numbers are padded to 7 digits, statement
 * ids to 4.
 *
 *     base_W[_vT]    delta_A_B[_S][_vT]    delete_delta_A_B[_S][_vT]
 */
export interface BaseName {
  readonly kind: 'base';
  readonly writeId: bigint;
  /** The compaction's transaction; 0n: none, a user's overwrite. */
  readonly visibilityTxnId: bigint;
}

export interface DeltaName {
  readonly kind: 'delta' | 'deleteDelta';
  readonly minWriteId: bigint;
  readonly maxWriteId: bigint;
  /** Absent after compaction. */
  readonly statementId?: number | undefined;
  /** The compaction's transaction; 0n: none. */
  readonly visibilityTxnId: bigint;
}

export type AcidDirectoryName = BaseName | DeltaName;

const BASE = /^base_(-?\d+)(?:_v(\d+))?$/;
const DELTA = /^(delete_)?delta_(-?\d+)_(-?\d+)(?:_(\d+))?(?:_v(\d+))?$/;

/** undefined where the name is not one of an ACID folder. */
export function parseAcidDirectoryName(name: string): AcidDirectoryName | undefined {
  const base = BASE.exec(name);
  if (base !== null) return { kind: 'base', writeId: BigInt(base[1]), visibilityTxnId: BigInt(base[2] ?? 0) };
  const delta = DELTA.exec(name);
  if (delta === null) return undefined;
  return {
    kind: delta[1] === undefined ? 'delta' : 'deleteDelta',
    minWriteId: BigInt(delta[2]),
    maxWriteId: BigInt(delta[3]),
    statementId: delta[4] === undefined ? undefined : Number(delta[4]),
    visibilityTxnId: BigInt(delta[5] ?? 0),
  };
}

export function formatAcidDirectoryName(name: AcidDirectoryName): string {
  const visibility = name.visibilityTxnId > 0n ? `_v${pad(name.visibilityTxnId, 7)}` : '';
  if (name.kind === 'base') return `base_${pad(name.writeId, 7)}${visibility}`;
  const prefix = name.kind === 'delta' ? 'delta' : 'delete_delta';
  const statement = name.statementId === undefined ? '' : `_${pad(BigInt(name.statementId), 4)}`;
  return `${prefix}_${pad(name.minWriteId, 7)}_${pad(name.maxWriteId, 7)}${statement}${visibility}`;
}

/** Java's %0Nd: the sign counts as a digit. */
function pad(value: bigint, digits: number): string {
  const text = String(value);
  return value < 0n ? `-${text.slice(1).padStart(digits - 1, '0')}` : text.padStart(digits, '0');
}

/** Files and folders that are never data (Hadoop's hidden file filter). */
export function isHiddenName(name: string): boolean {
  return name.startsWith('_') || name.startsWith('.');
}

/** Holds the ASCII digit of the format's version, in every folder that Hive 3 and later write (OrcAcidVersion). */
export const ACID_VERSION_FILE = '_orc_acid_version';
/** JSON that tells what a base is: Hive 3.1's compactor, TRUNCATE and DROP PARTITION write it (AcidUtils.MetaDataFile). */
export const METADATA_FILE = '_metadata_acid';
/** Suffix of the side file that says how much of a file being written is valid. */
export const FLUSH_LENGTH_SUFFIX = '_flush_length';
