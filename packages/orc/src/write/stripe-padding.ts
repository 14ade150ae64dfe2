/** Where a stripe goes, and how large the next may become. */
export interface StripePlacement {
  /** Zeros before the stripe. */
  readonly paddingBytes: number;
  /** The size at which the next stripe is full. */
  readonly nextStripeBytes: number;
}

interface PaddingSettings {
  readonly blockPadding: boolean;
  readonly blockSizeBytes: number;
  readonly paddingTolerance: number;
  readonly stripeSizeBytes: number;
}

/**
 * Keeps stripes inside HDFS blocks (Java: PhysicalFsWriter.padStripe): when little of a block is left it is filled with zeros, else the
 * next stripe is made to fit what is left.
 */
export function placeStripe(
  position: number,
  stripeBytes: number,
  targetBytes: number,
  settings: PaddingSettings,
): StripePlacement {
  const { blockPadding, blockSizeBytes, paddingTolerance, stripeSizeBytes } = settings;
  if (!blockPadding) return { paddingBytes: 0, nextStripeBytes: stripeSizeBytes };
  const available = blockSizeBytes - (position % blockSizeBytes);
  const share = available / stripeSizeBytes;
  if (share < paddingTolerance) return { paddingBytes: available, nextStripeBytes: stripeSizeBytes };
  if (share >= 1) return { paddingBytes: 0, nextStripeBytes: stripeSizeBytes };
  const overflow = stripeBytes - targetBytes;
  const correction = overflow > 0 ? Math.min(overflow / targetBytes, paddingTolerance) : 0;
  return { paddingBytes: 0, nextStripeBytes: Math.max(1, Math.trunc((1 - correction) * available)) };
}
