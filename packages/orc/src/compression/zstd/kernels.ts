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
  leadingZeros,
  load8,
  load16,
  load32,
  load64,
  long,
  longOr,
  longShl,
  longShrU,
  longTrailingZeros,
  loop,
  ltU,
  mul,
  ne,
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
  whenElse,
} from '../../wasm/assembler.js';
import { instantiate, type KernelCalls } from '../../wasm/instance.js';
import { copyLiterals, copyMatch, corruptIf, SLACK_BYTES } from '../copy-kernels.js';

/*
 * The loops of Zstandard (RFC 8878): symbols of Huffman coded literals, and sequences. Both read bit streams from their
 * ends: the last byte's highest set bit is a mark, the bits below it come first. A stream is held as 64 bits loaded from
 * `at`, of which the `used` highest are behind us.
 *
 * Memory, in bytes from 0 (tables are written by tables.ts and decompress.ts):
 *
 *   REPEATS  the last three distances, 4 bytes each
 *   LITERAL_LENGTHS, DISTANCES, MATCH_LENGTHS  states of 8 bytes: base 4 | next state's base 2 | its bits 1 | extra bits 1
 *   HUFFMAN  2 bytes for each prefix of HUFFMAN_BITS bits: bits 1 | symbol 1
 *   LITERALS  of a block
 *   FREE     chunk and output
 */
export const REPEATS = 64;
export const LITERAL_LENGTHS = 1024;
export const DISTANCES = LITERAL_LENGTHS + 8 * 512;
export const MATCH_LENGTHS = DISTANCES + 8 * 256;
export const HUFFMAN = MATCH_LENGTHS + 8 * 512;
/** The longest code; shorter ones have an entry for each prefix that they begin. */
export const HUFFMAN_BITS = 11;
export const LITERALS = 16_384;
export const MOST_BLOCK_BYTES = 1 << 17;
export const FREE = LITERALS + MOST_BLOCK_BYTES + SLACK_BYTES;

const STATE_BYTES_LOG = 3;
const INITIAL_PAGES = 14;

/** Names of the locals of a bit stream; several may be read in turn. */
interface Stream {
  readonly begin: string;
  readonly at: string;
  readonly used: string;
  readonly bits: string;
}

function stream(suffix: string | number): Stream {
  return { begin: `begin${suffix}`, at: `at${suffix}`, used: `used${suffix}`, bits: `bits${suffix}` };
}

const load = ({ bits, at }: Stream): Code => set(bits, load64(0, at));

/** Behind its mark; `begin` is set. */
function open(name: Stream, end: string): readonly Code[] {
  const { begin, at, used } = name;
  return [
    corruptIf(geU(begin, end)),
    set(used, load8(0, sub(end, 1))),
    corruptIf(isZero(used)),
    set(used, sub(leadingZeros(used), 23)),
    set(at, sub(end, 8)),
    // A shorter stream is loaded from its begin: what follows it in memory counts as used.
    when(ltU(sub(end, begin), 8), set(at, begin), advance(used, shl(sub(8, sub(end, begin)), 3))),
    load(name),
  ];
}

/** Loads as many bytes before as were used; at least 8 must be there. */
function refillFar(name: Stream): readonly Code[] {
  const { at, used } = name;
  return [set(at, sub(at, shrU(used, 3))), set(used, and(used, 7)), load(name)];
}

/** The same near the begin. */
function refill(name: Stream): Code {
  const { begin, at, used } = name;
  return whenElse(geU(sub(at, begin), 8), refillFar(name), [
    set('back', shrU(used, 3)),
    when(gtU('back', sub(at, begin)), set('back', sub(at, begin))),
    set(at, sub(at, 'back')),
    set(used, sub(used, shl('back', 3))),
    load(name),
  ]);
}

/** A stream must end with its last value: more and fewer bits are corruption. */
const closed = ({ begin, at, used }: Stream): Code => corruptIf(ne(used, add(64, shl(sub(at, begin), 3))));

const REPEAT_NAMES = ['repeat1', 'repeat2', 'repeat3'];

const UNUSED_BITS = long(64 - HUFFMAN_BITS);

/** The entry of the prefix that `unused` begins with. */
const lookUp = (unused: Value): Code => set('entry', load16(HUFFMAN, shl(toInt(longShrU(unused, UNUSED_BITS)), 1)));

function symbol({ bits, used }: Stream, out: string): readonly Code[] {
  return [lookUp(longShl(bits, toLong(used))), store8(0, out, shrU('entry', 8)), advance(used, and('entry', 0xff))];
}

function remainingSymbols(name: Stream, out: string, end: string): readonly Code[] {
  return [
    block(
      'full',
      loop(
        'symbols',
        branchIf('full', geU(out, end)),
        refill(name),
        ...symbol(name, out),
        advance(out, 1),
        branch('symbols'),
      ),
    ),
    closed(name),
  ];
}

const huffman1: KernelFunction<'huffman1'> = {
  name: 'huffman1',
  parameters: ['begin1', 'end1', 'out1', 'stop1'],
  locals: ['at1', 'used1', 'entry', 'back'],
  longLocals: ['bits1'],
  body: [...open(stream(1), 'end1'), ...remainingSymbols(stream(1), 'out1', 'stop1'), answer('stop1')],
};

const FOUR = [1, 2, 3, 4];
/** Of at most 11 bits each, so many symbols are in 56 bits. */
const SYMBOLS_A_LOAD = [0, 1, 2, 3, 4];

/*
 * Far from both ends of a stream its bits are held without those that were used, and with the lowest bit set: what is
 * below that bit tells how many were used. A shift by an entry only looks at its six lowest bits, which are the symbol's.
 */
const startFar = (i: number): readonly Code[] => [
  set(`bits${i}`, longShl(longOr(`bits${i}`, long(1)), toLong(`used${i}`))),
];

const refillMarked = (i: number): readonly Code[] => [
  set('back', toInt(longTrailingZeros(`bits${i}`))),
  set(`at${i}`, sub(`at${i}`, shrU('back', 3))),
  set(`bits${i}`, longShl(longOr(load64(0, `at${i}`), long(1)), toLong(and('back', 7)))),
];

const farSymbol = (i: number, offset: number): readonly Code[] => [
  lookUp(`bits${i}`),
  set(`bits${i}`, longShl(`bits${i}`, toLong('entry'))),
  store8(offset, `out${i}`, shrU('entry', 8)),
];

const endFar = (i: number): readonly Code[] => [set(`used${i}`, toInt(longTrailingZeros(`bits${i}`))), load(stream(i))];

/** Four streams, each of a quarter of the symbols, in turn: so that none waits for its own table look-ups. */
const huffman4: KernelFunction<'huffman4'> = {
  name: 'huffman4',
  parameters: ['begin1', 'begin2', 'begin3', 'begin4', 'end', 'out1', 'stop'],
  locals: [
    'first',
    'stopped',
    'quarter',
    'entry',
    'back',
    'out2',
    'out3',
    'out4',
    ...FOUR.flatMap((i) => [`at${i}`, `used${i}`]),
  ],
  longLocals: FOUR.map((i) => `bits${i}`),
  body: [
    set('first', 'out1'),
    set('quarter', shrU(add(sub('stop', 'out1'), 3), 2)),
    corruptIf(gtU(add('quarter', shl('quarter', 1)), sub('stop', 'out1'))),
    set('out2', add('out1', 'quarter')),
    set('out3', add('out2', 'quarter')),
    set('out4', add('out3', 'quarter')),
    ...FOUR.flatMap((i) => open(stream(i), i === 4 ? 'end' : `begin${i + 1}`)),
    ...FOUR.flatMap(startFar),
    block(
      'near',
      loop(
        'far',
        ...FOUR.map((i) => branchIf('near', ltU(sub(`at${i}`, `begin${i}`), 8))),
        // The last stream has the fewest symbols.
        branchIf('near', ltU(sub('stop', 'out4'), SYMBOLS_A_LOAD.length)),
        ...FOUR.flatMap(refillMarked),
        ...SYMBOLS_A_LOAD.flatMap((offset) => FOUR.flatMap((i) => farSymbol(i, offset))),
        ...FOUR.map((i) => advance(`out${i}`, SYMBOLS_A_LOAD.length)),
        branch('far'),
      ),
    ),
    ...FOUR.flatMap(endFar),
    ...FOUR.flatMap((i) => [
      set('stopped', i === 4 ? 'stop' : add('first', mul('quarter', i))),
      ...remainingSymbols(stream(i), `out${i}`, 'stopped'),
    ]),
    answer('stop'),
  ],
};

const BITS = stream('');

/** The next bits as an int; counts them as used. */
function take(name: string, count: Value): readonly Code[] {
  // Shifted in two steps: no bits is a shift by 64.
  const rest = longShrU(longShrU(longShl('bits', toLong('used')), long(1)), toLong(sub(63, 'count')));
  return [set('count', count), set(name, toInt(rest)), advance('used', 'count')];
}

function nextState(state: string, entry: string): readonly Code[] {
  return [...take('value', load8(6, entry)), set(state, add(load16(4, entry), 'value'))];
}

function firstState(state: string, log: string): readonly Code[] {
  return take(state, log);
}

const entryOf = (name: string, table: number, state: string): Code =>
  set(name, add(table, shl(state, STATE_BYTES_LOG)));

/** The distance of a sequence's offset value: 1 to 3 mean one of the last three, shifted by one when no literals precede. */
const distanceOfValue: Code = whenElse(
  gtU('distance', 3),
  [
    set('distance', sub('distance', 3)),
    set('repeat3', 'repeat2'),
    set('repeat2', 'repeat1'),
    set('repeat1', 'distance'),
  ],
  [
    set('value', sub('distance', ne('length', 0))),
    set('distance', 'repeat1'),
    when(
      'value',
      whenElse(
        eq('value', 1),
        [set('distance', 'repeat2')],
        [
          whenElse(eq('value', 2), [set('distance', 'repeat3')], [set('distance', sub('repeat1', 1))]),
          set('repeat3', 'repeat2'),
        ],
      ),
      set('repeat2', 'repeat1'),
      set('repeat1', 'distance'),
    ),
  ],
);

/** Sequences of literals (from [src, srcEnd)) and matches, then the literals that are left; bits in [begin, end). */
const sequences: KernelFunction<'sequences'> = {
  name: 'sequences',
  parameters: ['begin', 'end', 'sequences', 'src', 'srcEnd', 'start', 'dst', 'dstEnd', 'log1', 'log2', 'log3'],
  locals: [
    ...['at', 'used', 'back', 'count', 'value', 'from', 'stop', 'length', 'matchLength', 'distance'],
    ...['state1', 'state2', 'state3', 'entry1', 'entry2', 'entry3', ...REPEAT_NAMES],
  ],
  longLocals: ['bits'],
  body: [
    ...REPEAT_NAMES.map((name, i) => set(name, load32(0, REPEATS + 4 * i))),
    ...open(BITS, 'end'),
    ...firstState('state1', 'log1'),
    ...firstState('state2', 'log2'),
    ...firstState('state3', 'log3'),
    loop(
      'next',
      refill(BITS),
      entryOf('entry1', LITERAL_LENGTHS, 'state1'),
      entryOf('entry2', DISTANCES, 'state2'),
      entryOf('entry3', MATCH_LENGTHS, 'state3'),
      ...take('distance', load8(7, 'entry2')),
      advance('distance', load32(0, 'entry2')),
      ...take('matchLength', load8(7, 'entry3')),
      advance('matchLength', load32(0, 'entry3')),
      refill(BITS),
      ...take('length', load8(7, 'entry1')),
      advance('length', load32(0, 'entry1')),
      distanceOfValue,
      set('sequences', sub('sequences', 1)),
      when(
        'sequences',
        ...nextState('state1', 'entry1'),
        ...nextState('state3', 'entry3'),
        ...nextState('state2', 'entry2'),
      ),
      ...copyLiterals,
      set('length', 'matchLength'),
      ...copyMatch,
      branchIf('next', 'sequences'),
    ),
    closed(BITS),
    ...REPEAT_NAMES.map((name, i) => store32(0, REPEATS + 4 * i, name)),
    set('length', sub('srcEnd', 'src')),
    ...copyLiterals,
    answer('dst'),
  ],
};

export type ZstdKernels = KernelCalls<'huffman1' | 'huffman4' | 'sequences'>;

export function zstdKernels(): ZstdKernels {
  return instantiate([huffman1, huffman4, sequences], INITIAL_PAGES);
}
