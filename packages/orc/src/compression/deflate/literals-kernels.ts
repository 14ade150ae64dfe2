import {
  add,
  advance,
  and,
  answer,
  block,
  branchIf,
  type Code,
  geU,
  gtU,
  type KernelFunction,
  load8,
  load32,
  longOr,
  longShl,
  longShrU,
  loop,
  or,
  set,
  shl,
  shrU,
  store32,
  store64,
  sub,
  toLong,
  type Value,
} from '../../wasm/assembler.js';

/*
 * Literals into DEFLATE, in WebAssembly. They are counted in four tables that take turns, because adding to a place again needs
 * what was added before; and written four at a time, which with codes of at most LONGEST_LITERAL bits fits into 64.
 */
export const LONGEST_LITERAL = 14;
export const TABLES = 4;

/** Where the memory has what: of each byte how often it is, and its code | its length << 16. */
export const COUNTS = 64;
export const CODES = COUNTS + TABLES * 1024;
export const TEXT = CODES + 1024;

const count = (table: number, byte: Value): Code => {
  const place = shl(byte, 2);
  return store32At(COUNTS + table * 1024, place, add(load32(COUNTS + table * 1024, place), 1));
};
const store32At = (offset: number, place: Value, value: Value): Code => store32(offset, place, value);
const byteOf = (word: string, i: number): Code => and(shrU(word, 8 * i), 255);

/** Counts the bytes from `src` to `end`. */
export const countKernel: KernelFunction<'count'> = {
  name: 'count',
  parameters: ['src', 'end'],
  locals: ['word'],
  body: [
    block(
      'rest',
      loop(
        'words',
        branchIf('rest', gtU(add('src', 4), 'end')),
        set('word', load32(0, 'src')),
        count(0, byteOf('word', 0)),
        count(1, byteOf('word', 1)),
        count(2, byteOf('word', 2)),
        count(3, shrU('word', 24)),
        advance('src', 4),
        branchIf('words', 1),
      ),
    ),
    block(
      'done',
      loop(
        'bytes',
        branchIf('done', geU('src', 'end')),
        count(0, load8(0, 'src')),
        advance('src', 1),
        branchIf('bytes', 1),
      ),
    ),
    answer('src'),
  ],
};

const codeOf = (name: string, byte: Value): Code => set(name, load32(CODES, shl(byte, 2)));

/** What was looked up, behind `used` bits. */
const put = (...names: readonly string[]): readonly Code[] =>
  names.flatMap((name) => [
    set('bits', longOr('bits', longShl(toLong(and(name, 0xffff)), toLong('used')))),
    advance('used', shrU(name, 16)),
  ]);

/** Two codes at once: put together in 32 bits before. */
const putTwo = (first: string, second: string): readonly Code[] => [
  set('pair', or(and(first, 0xffff), shl(and(second, 0xffff), shrU(first, 16)))),
  set('bits', longOr('bits', longShl(toLong('pair'), toLong('used')))),
  advance('used', add(shrU(first, 16), shrU(second, 16))),
];

const writeOut: readonly Code[] = [
  store64(0, 'out', 'bits'),
  advance('out', shrU('used', 3)),
  set('bits', longShrU('bits', toLong(and('used', -8)))),
  set('used', and('used', 7)),
];

/** Writes the codes of the bytes from `src` to `end`, behind `used` bits at `out`: answers behind which bit, from `begin` on. */
export const literalsKernel: KernelFunction<'literals'> = {
  name: 'literals',
  parameters: ['src', 'end', 'begin', 'at'],
  locals: ['out', 'used', 'word', 'a', 'b', 'c', 'd', 'pair'],
  longLocals: ['bits'],
  body: [
    set('out', add('begin', shrU('at', 3))),
    set('used', and('at', 7)),
    set('bits', toLong(and(load8(0, 'out'), sub(shl(1, 'used'), 1)))),
    block(
      'rest',
      loop(
        'words',
        branchIf('rest', gtU(add('src', 4), 'end')),
        set('word', load32(0, 'src')),
        codeOf('a', byteOf('word', 0)),
        codeOf('b', byteOf('word', 1)),
        codeOf('c', byteOf('word', 2)),
        codeOf('d', shrU('word', 24)),
        ...putTwo('a', 'b'),
        ...putTwo('c', 'd'),
        ...writeOut,
        advance('src', 4),
        branchIf('words', 1),
      ),
    ),
    block(
      'done',
      loop(
        'bytes',
        branchIf('done', geU('src', 'end')),
        codeOf('a', load8(0, 'src')),
        ...put('a'),
        ...writeOut,
        advance('src', 1),
        branchIf('bytes', 1),
      ),
    ),
    store64(0, 'out', 'bits'),
    answer(add(shl(sub('out', 'begin'), 3), 'used')),
  ],
};
