import {
  add,
  advance,
  and,
  answer,
  block,
  branch,
  branchIf,
  type Code,
  gtU,
  isZero,
  type KernelFunction,
  load16,
  load32,
  load64,
  longShrU,
  loop,
  ltS,
  ltU,
  or,
  set,
  shl,
  shrU,
  store16,
  store32,
  sub,
  toInt,
  toLong,
  type Value,
  when,
} from '../../wasm/assembler.js';
import { copyMatch, corruptIf, SLACK_BYTES } from '../copy-kernels.js';
import { LONGEST_CODE } from './tables.js';

/*
 * The symbols of one DEFLATE block, in WebAssembly. A code is looked up by its first LENGTH_BITS (DISTANCE_BITS) in a table of
 * entries of 32 bits, least significant first:
 *
 *   one or two literals   code bits 5 | 0 | - | second literal? 1 | literal 8 | literal 8 | 0
 *   length of a match     code bits 5 | extra bits 3 | base 9, from bit 8 | 1 in bit 31
 *   end of the block      code bits 5 | 1 in bits 30 and 31
 *   a longer code, or none 1 in bits 29 and 31
 *   distance of a match   code bits 5 | base 16, from bit 8 | extra bits 4, from bit 24 | 1 in bit 31: a longer code
 *
 * Longer codes are found bit by bit: of each length the number of codes, and the entries (without code bits) in the order of
 * their codes. Bits are read 57 at a time from where they begin, which may be behind the end: that is found out afterwards.
 */
export const LENGTH_BITS = 11;
export const DISTANCE_BITS = 9;
export const LITERALS_2 = 1 << 7;
export const NO_LITERAL = 1 << 31;
export const END = (1 << 31) | (1 << 30);
export const LONGER = (1 << 31) | (1 << 29);

/** Where the memory has what. Where the kernel has stopped reading is at POSITION, in bits from the source. */
export const POSITION = 64;
export const LENGTH_TABLE = 128;
export const DISTANCE_TABLE = LENGTH_TABLE + (4 << LENGTH_BITS);
export const LENGTH_COUNTS = DISTANCE_TABLE + (4 << DISTANCE_BITS);
export const DISTANCE_COUNTS = LENGTH_COUNTS + 64;
export const LENGTH_ENTRIES = DISTANCE_COUNTS + 64;
export const DISTANCE_ENTRIES = LENGTH_ENTRIES + 4 * 288;
export const SOURCE = (DISTANCE_ENTRIES + 4 * 32 + SLACK_BYTES) & -SLACK_BYTES;

const entryBits: Code = and('entry', 31);
const skip = (count: Value): Code => set('bits', longShrU('bits', toLong(count)));

/** From `at` on, in bits. */
const readBits: Code = set('bits', longShrU(load64(0, add('source', shrU('at', 3))), toLong(and('at', 7))));

const look = (table: number, bits: number): Code =>
  set('entry', load32(table, shl(and(toInt('bits'), (1 << bits) - 1), 2)));

/** One or two literals; another symbol goes to `other`, with `at` in front of it. */
const literals = (other: string): readonly Code[] => [
  look(LENGTH_TABLE, LENGTH_BITS),
  branchIf(other, ltS('entry', 0)),
  store16(0, 'dst', shrU('entry', 8)),
  advance('dst', add(1, and(shrU('entry', 7), 1))),
  advance('at', entryBits),
  skip(entryBits),
];

/** Finds the entry of a longer code at the bits that are next; the code's length is put into it. */
const longerCode = (counts: number, entries: number, label: string): readonly Code[] => [
  set('code', 0),
  set('first', 0),
  set('index', 0),
  set('length', 0),
  block(
    `${label}Found`,
    loop(
      label,
      set('code', or('code', and(shrU(toInt('bits'), 'length'), 1))),
      advance('length', 1),
      corruptIf(gtU('length', LONGEST_CODE)),
      set('count', load16(counts, shl('length', 1))),
      branchIf(`${label}Found`, ltU(sub('code', 'first'), 'count')),
      advance('index', 'count'),
      set('first', shl(add('first', 'count'), 1)),
      set('code', shl('code', 1)),
      branch(label),
    ),
  ),
  set('entry', or(load32(entries, shl(add('index', sub('code', 'first')), 2)), 'length')),
];

/** The value of the extra bits that are next, `count` of them. */
const extra = (count: Value): Code => and(toInt('bits'), sub(shl(1, count), 1));

/** Answers where it stopped writing, at the end of the block. */
export const inflateKernel: KernelFunction<'inflate'> = {
  name: 'inflate',
  parameters: ['source', 'at', 'endAt', 'start', 'dst', 'dstEnd'],
  locals: ['entry', 'length', 'distance', 'from', 'stop', 'code', 'first', 'index', 'count'],
  longLocals: ['bits'],
  body: [
    loop(
      'next',
      corruptIf(gtU('at', 'endAt')),
      // The literals of one turn may go so far beyond the end.
      corruptIf(gtU('dst', 'dstEnd')),
      readBits,
      block(
        'ready',
        block('other', ...literals('ready'), ...[1, 2, 3, 4].flatMap(() => literals('other')), branch('next')),
        readBits,
      ),
      corruptIf(gtU('dst', 'dstEnd')),
      when(and(shrU('entry', 29), 1), ...longerCode(LENGTH_COUNTS, LENGTH_ENTRIES, 'lengthCode')),
      corruptIf(and(shrU('entry', 29), 1)),
      advance('at', entryBits),
      skip(entryBits),
      when(
        // A longer code of a literal.
        isZero(shrU('entry', 31)),
        corruptIf(isZero(sub('dstEnd', 'dst'))),
        store16(0, 'dst', shrU('entry', 8)),
        advance('dst', 1),
        branch('next'),
      ),
      when(and(shrU('entry', 30), 1), corruptIf(gtU('at', 'endAt')), store32(POSITION, 0, 'at'), answer('dst')),
      set('count', and(shrU('entry', 5), 7)),
      set('stop', add(and(shrU('entry', 8), 511), extra('count'))),
      advance('at', 'count'),
      skip('count'),
      look(DISTANCE_TABLE, DISTANCE_BITS),
      // `length` is what longer codes are counted by.
      set('distance', 'stop'),
      when(ltS('entry', 0), ...longerCode(DISTANCE_COUNTS, DISTANCE_ENTRIES, 'distanceCode')),
      corruptIf(ltS('entry', 0)),
      set('length', 'distance'),
      advance('at', entryBits),
      skip(entryBits),
      set('count', and(shrU('entry', 24), 15)),
      set('distance', add(and(shrU('entry', 8), 0xffff), extra('count'))),
      advance('at', 'count'),
      ...copyMatch,
      branch('next'),
    ),
  ],
};
