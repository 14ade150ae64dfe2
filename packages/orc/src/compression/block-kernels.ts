import {
  add,
  advance,
  and,
  answer,
  block,
  branch,
  branchIf,
  type Code,
  eq,
  geU,
  gtU,
  isZero,
  type KernelFunction,
  load8,
  load16,
  load32,
  load64,
  loop,
  ltU,
  or,
  set,
  shl,
  shrU,
  store64,
  sub,
  when,
  whenElse,
} from '../wasm/assembler.js';
import { growTo, instantiate, type KernelCalls } from '../wasm/instance.js';
import { CORRUPT, copyLiterals, copyMatch, corruptIf, SLACK_BYTES } from './copy-kernels.js';

/*
 * Decompression of LZ4 and snappy blocks in WebAssembly. A kernel reads [src, srcEnd) and writes [dst, dstEnd) of its
 * memory, checks every length and distance, and answers where it stopped writing. Copies go in words that may read and
 * write up to SLACK_BYTES behind both: that much belongs to nobody.
 *
 *   LZ4     token (literals 4 bits | match 4 bits) | [more literal lengths] | literals | distance 2 | [more match lengths]
 *           a length of 15 goes on in bytes, up to the first below 255; a match has 4 bytes more; a block ends in literals
 *   snappy  tag, low two bits: 0 literals (length - 1 in 6 bits; 60 to 63: in the next 1 to 4 bytes),
 *           1 match of 4 to 11 bytes, distance 11 bits; 2 match, distance 2 bytes; 3 match, distance 4 bytes
 */
const INITIAL_PAGES = 10;

const PARAMETERS = ['src', 'srcEnd', 'dst', 'dstEnd'];
const moreLength: Code = when(
  eq('length', 15),
  loop(
    'more',
    corruptIf(geU('src', 'srcEnd')),
    set('byte', load8(0, 'src')),
    advance('src', 1),
    advance('length', 'byte'),
    branchIf('more', eq('byte', 255)),
  ),
);

/**
 * Less than 15 literals and a match of at most 18 bytes that is not too near, far from both ends: most sequences are so,
 * and take the same stores whatever their lengths, without branches to mispredict.
 */
const shortSequence: readonly Code[] = [
  branchIf('slow', eq('length', 15)),
  branchIf('slow', gtU(add('src', 32), 'srcEnd')),
  branchIf('slow', gtU(add('dst', 64), 'dstEnd')),
  store64(0, 'dst', load64(0, 'src')),
  store64(8, 'dst', load64(8, 'src')),
  advance('src', 'length'),
  advance('dst', 'length'),
  set('distance', load16(0, 'src')),
  advance('src', 2),
  set('length', and('token', 15)),
  branchIf('match', or(eq('length', 15), ltU('distance', 8))),
  corruptIf(gtU('distance', sub('dst', 'start'))),
  set('from', sub('dst', 'distance')),
  store64(0, 'dst', load64(0, 'from')),
  store64(8, 'dst', load64(8, 'from')),
  store64(16, 'dst', load64(16, 'from')),
  advance('dst', add('length', 4)),
  branch('sequence'),
];

const lz4: KernelFunction<'lz4'> = {
  name: 'lz4',
  parameters: PARAMETERS,
  locals: ['start', 'token', 'length', 'byte', 'distance', 'from', 'stop'],
  body: [
    set('start', 'dst'),
    loop(
      'sequence',
      corruptIf(geU('src', 'srcEnd')),
      set('token', load8(0, 'src')),
      advance('src', 1),
      set('length', shrU('token', 4)),
      block(
        'match',
        block('slow', ...shortSequence),
        moreLength,
        ...copyLiterals,
        when(eq('src', 'srcEnd'), answer('dst')),
        corruptIf(ltU(sub('srcEnd', 'src'), 2)),
        set('distance', load16(0, 'src')),
        advance('src', 2),
        set('length', and('token', 15)),
      ),
      moreLength,
      advance('length', 4),
      ...copyMatch,
      branch('sequence'),
    ),
  ],
};

const snappy: KernelFunction<'snappy'> = {
  name: 'snappy',
  parameters: PARAMETERS,
  locals: ['start', 'tag', 'length', 'count', 'distance', 'from', 'stop'],
  body: [
    set('start', 'dst'),
    loop(
      'element',
      when(geU('src', 'srcEnd'), answer('dst')),
      set('tag', load8(0, 'src')),
      advance('src', 1),
      set('length', shrU('tag', 2)),
      when(
        isZero(and('tag', 3)),
        when(
          geU('length', 60),
          set('count', sub('length', 59)),
          corruptIf(gtU('count', sub('srcEnd', 'src'))),
          set('length', and(load32(0, 'src'), shrU(-1, sub(32, shl('count', 3))))),
          advance('src', 'count'),
        ),
        advance('length', 1),
        ...copyLiterals,
        branch('element'),
      ),
      whenElse(
        eq(and('tag', 3), 1),
        [
          set('count', 1),
          set('distance', or(shl(and('tag', 0xe0), 3), load8(0, 'src'))),
          set('length', add(and('length', 7), 4)),
        ],
        [
          advance('length', 1),
          whenElse(
            eq(and('tag', 3), 2),
            [set('count', 2), set('distance', load16(0, 'src'))],
            [set('count', 4), set('distance', load32(0, 'src'))],
          ),
        ],
      ),
      corruptIf(gtU('count', sub('srcEnd', 'src'))),
      advance('src', 'count'),
      ...copyMatch,
      branch('element'),
    ),
  ],
};

let kernels: KernelCalls<'lz4' | 'snappy'> | undefined;

/**
 * The bytes of a block, at most `maximumLength`; undefined when it is corrupt or holds more. The answer is a view that is
 * good until the next call.
 */
export function decompressBlock(
  kind: 'lz4' | 'snappy',
  chunk: Uint8Array,
  maximumLength: number,
): Uint8Array | undefined {
  kernels ??= instantiate([lz4, snappy], INITIAL_PAGES);
  const { memory } = kernels;
  // Address 0 is CORRUPT.
  const src = SLACK_BYTES;
  const srcEnd = src + chunk.length;
  const dst = (srcEnd + 2 * SLACK_BYTES) & -SLACK_BYTES;
  growTo(memory, dst + maximumLength + SLACK_BYTES);
  new Uint8Array(memory.buffer).set(chunk, src);
  const end = kernels[kind](src, srcEnd, dst, dst + maximumLength);
  return end === CORRUPT ? undefined : new Uint8Array(memory.buffer, dst, end - dst);
}
