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
  ltU,
  or,
  set,
  shl,
  shrU,
  store8,
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
 *   one to three literals code bits 4 | literals - 1: 2 | 0 0 | literals 8 each
 *   length of a match     code bits 4 | 0 0 | 0 | 1 | base 9 | extra bits 3
 *   end of the block      code bits 4 | 0 0 | 0 | 1 | 0 in 20 | 1
 *   a longer code, none   code bits 4 | 0 0 | 1 | 1
 *   distance of a match   code bits 4 | 0 0 | 0 | 0 | base 16 | extra bits 4; a longer code, none: as above
 *
 * Longer codes are found bit by bit: of each length the number of codes, and the entries (without code bits) in the order of
 * their codes. Bits are read 57 at a time from where they begin, which may be behind the end: that is found out afterwards.
 */
export const LENGTH_BITS = 10;
export const DISTANCE_BITS = 9;
/** More literals than one. */
export const MORE_LITERALS = 1 << 4;
export const LONGER = (1 << 6) | (1 << 7);
export const NO_LITERAL = 1 << 7;
export const END = NO_LITERAL | (1 << 28);

/** Where the memory has what. Where the kernel has stopped reading is at POSITION, in bits from the source. */
export const POSITION = 64;
export const LENGTH_TABLE = 128;
export const DISTANCE_TABLE = LENGTH_TABLE + (4 << LENGTH_BITS);
export const LENGTH_COUNTS = DISTANCE_TABLE + (4 << DISTANCE_BITS);
export const DISTANCE_COUNTS = LENGTH_COUNTS + 64;
export const LENGTH_ENTRIES = DISTANCE_COUNTS + 64;
export const DISTANCE_ENTRIES = LENGTH_ENTRIES + 4 * 288;
export const SOURCE = (DISTANCE_ENTRIES + 4 * 32 + SLACK_BYTES) & -SLACK_BYTES;

const entryBits: Code = and('entry', 15);
const skip = (count: Value): Code => set('bits', longShrU('bits', toLong(count)));

/** From `at` on, in bits. */
const readBits: Code = set('bits', longShrU(load64(0, add('source', shrU('at', 3))), toLong(and('at', 7))));

const look = (table: number, bits: number): Code =>
  set('entry', load32(table, shl(and(toInt('bits'), (1 << bits) - 1), 2)));

/** One to three literals; another symbol goes to `other`, with `at` in front of it. */
const literals = (other: string): readonly Code[] => [
  look(LENGTH_TABLE, LENGTH_BITS),
  branchIf(other, and('entry', NO_LITERAL)),
  store32(0, 'dst', shrU('entry', 8)),
  advance('dst', add(1, and(shrU('entry', 4), 3))),
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
      when(and('entry', LONGER & ~NO_LITERAL), ...longerCode(LENGTH_COUNTS, LENGTH_ENTRIES, 'lengthCode')),
      corruptIf(and('entry', LONGER & ~NO_LITERAL)),
      advance('at', entryBits),
      skip(entryBits),
      when(
        // A longer code of a literal.
        isZero(and('entry', NO_LITERAL)),
        corruptIf(isZero(sub('dstEnd', 'dst'))),
        store8(0, 'dst', shrU('entry', 8)),
        advance('dst', 1),
        branch('next'),
      ),
      when(shrU('entry', 28), corruptIf(gtU('at', 'endAt')), store32(POSITION, 0, 'at'), answer('dst')),
      set('count', and(shrU('entry', 17), 7)),
      set('stop', add(and(shrU('entry', 8), 511), extra('count'))),
      advance('at', 'count'),
      skip('count'),
      look(DISTANCE_TABLE, DISTANCE_BITS),
      // `length` is what longer codes are counted by.
      set('distance', 'stop'),
      when(and('entry', NO_LITERAL), ...longerCode(DISTANCE_COUNTS, DISTANCE_ENTRIES, 'distanceCode')),
      corruptIf(and('entry', NO_LITERAL)),
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

/**
 * Entries of one literal in [0, 1 << LENGTH_BITS) become entries of the two or three whose codes are all in the bits that are looked
 * at. The entry behind a code is looked up by fewer bits, so that going down it is always found as it was.
 */
export const joinKernel: KernelFunction<'join'> = {
  name: 'join',
  parameters: ['at'],
  locals: ['entry', 'used', 'second', 'third'],
  body: [
    loop(
      'next',
      set('at', sub('at', 1)),
      block(
        'done',
        set('entry', load32(LENGTH_TABLE, shl('at', 2))),
        branchIf('done', and('entry', NO_LITERAL)),
        set('used', entryBits),
        set('second', load32(LENGTH_TABLE, shl(shrU('at', 'used'), 2))),
        branchIf('done', and('second', NO_LITERAL)),
        branchIf('done', gtU(add('used', and('second', 15)), LENGTH_BITS)),
        set('entry', add('entry', MORE_LITERALS)),
        set('used', add('used', and('second', 15))),
        set('entry', or('entry', shl(and('second', 0xff00), 8))),
        set('third', load32(LENGTH_TABLE, shl(shrU('at', 'used'), 2))),
        block(
          'two',
          branchIf('two', and('third', NO_LITERAL)),
          branchIf('two', gtU(add('used', and('third', 15)), LENGTH_BITS)),
          set('entry', add('entry', MORE_LITERALS)),
          set('used', add('used', and('third', 15))),
          set('entry', or('entry', shl(and('third', 0xff00), 16))),
        ),
        store32(LENGTH_TABLE, shl('at', 2), or(and('entry', ~15), 'used')),
      ),
      branchIf('next', 'at'),
    ),
    answer(0),
  ],
};
