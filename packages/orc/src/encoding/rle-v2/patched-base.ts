import type { OutputBuffer } from '../output-buffer.js';
import { packPairs } from './bit-packing.js';
import { closestFixedBits, encodeBitWidth } from './widths.js';

/** A run split into low parts and patches for the few wide values; the format is drawn in decoder.ts. */
export interface PatchedRun {
  /** Halves of the values less the base, without what the patches carry. */
  readonly lowParts: Int32Array;
  readonly count: number;
  readonly width: number;
  readonly patchWidth: number;
  readonly gapWidth: number;
  /** Halves of gap << patchWidth | patch. */
  readonly entries: Int32Array;
  readonly patches: number;
}

/**
 * Takes the bits above `width95` off the values that have some (Java: RunLengthIntegerWriterV2.preparePatchedBlob).
 * `offsets` are the values less the base, as halves; they are changed. Patched runs are rare, so BigInt is fine here.
 */
export function preparePatches(offsets: Int32Array, count: number, width95: number, width100: number): PatchedRun {
  let patchWidth = closestFixedBits(width100 - width95);
  let width = width95;
  // A gap and a 64-bit patch would not fit one entry.
  if (patchWidth === 64) {
    patchWidth = 56;
    width = 8;
  }
  const entries: bigint[] = [];
  let previous = 0;
  let maxGap = 0;
  for (let i = 0; i < count; i++) {
    const patch = takeAbove(offsets, 2 * i, width);
    if (patch === 0n) continue;
    let gap = i - previous;
    previous = i;
    maxGap = Math.max(maxGap, gap);
    for (; gap > 255; gap -= 255) entries.push(255n << BigInt(patchWidth));
    entries.push((BigInt(gap) << BigInt(patchWidth)) | patch);
  }
  const gapWidth = maxGap === 0 ? 1 : Math.min(8, 32 - Math.clz32(maxGap));
  return {
    lowParts: offsets,
    count,
    width,
    patchWidth,
    gapWidth,
    entries: new Int32Array(BigUint64Array.from(entries).buffer),
    patches: entries.length,
  };
}

/** Removes and answers the bits of a pair from bit `width` on. */
function takeAbove(pairs: Int32Array, p: number, width: number): bigint {
  const lo = pairs[p];
  const hi = pairs[p + 1];
  if (width >= 32) {
    const above = width === 64 ? 0 : hi >>> (width - 32);
    if (above !== 0) pairs[p + 1] = width === 32 ? 0 : hi & ((1 << (width - 32)) - 1);
    return BigInt(above);
  }
  if (hi === 0 && lo >>> width === 0) return 0n;
  pairs[p] = lo & ((1 << width) - 1);
  pairs[p + 1] = 0;
  return (BigInt(hi >>> 0) << BigInt(32 - width)) | BigInt(lo >>> width);
}

/** Writes a patched base run; its widths cannot be aligned, since a patch continues the low part's bits. */
export function writePatchedBase(output: OutputBuffer, base: bigint, run: PatchedRun): void {
  const magnitude = base < 0n ? -base : base;
  const baseBits = closestFixedBits(magnitude === 0n ? 0 : magnitude.toString(2).length) + 1;
  const baseBytes = Math.ceil(baseBits / 8);
  const signed = base < 0n ? magnitude | (1n << BigInt(baseBytes * 8 - 1)) : magnitude;
  output.reserve(4 + 8);
  output.bytes[output.length++] = 0x80 | (encodeBitWidth(run.width) << 1) | ((run.count - 1) >>> 8);
  output.bytes[output.length++] = run.count - 1;
  output.bytes[output.length++] = ((baseBytes - 1) << 5) | encodeBitWidth(run.patchWidth);
  output.bytes[output.length++] = ((run.gapWidth - 1) << 5) | run.patches;
  output.putBigEndian(Number(BigInt.asIntN(32, signed)), Number(BigInt.asIntN(32, signed >> 32n)), baseBytes);
  packPairs(run.lowParts, 0, run.count, run.width, output);
  packPairs(run.entries, 0, run.patches, closestFixedBits(run.gapWidth + run.patchWidth), output);
}
