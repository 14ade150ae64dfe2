import { describe, expect, it } from 'vitest';
import { placeStripe } from './stripe-padding.js';

const settings = { blockPadding: true, blockSizeBytes: 1000, paddingTolerance: 0.05, stripeSizeBytes: 400 };

describe('placeStripe', () => {
  it('fills the rest of a block when little is left', () => {
    expect(placeStripe(990, 380, 400, settings)).toEqual({ paddingBytes: 10, nextStripeBytes: 400 });
  });
  it('makes the next stripe fit what is left', () => {
    expect(placeStripe(800, 380, 400, settings)).toEqual({ paddingBytes: 0, nextStripeBytes: 200 });
    expect(placeStripe(800, 410, 400, settings)).toEqual({ paddingBytes: 0, nextStripeBytes: 195 });
  });
  it('does nothing with room enough, or when not asked', () => {
    expect(placeStripe(100, 380, 400, settings)).toEqual({ paddingBytes: 0, nextStripeBytes: 400 });
    expect(placeStripe(990, 380, 400, { ...settings, blockPadding: false })).toEqual({
      paddingBytes: 0,
      nextStripeBytes: 400,
    });
  });
});
