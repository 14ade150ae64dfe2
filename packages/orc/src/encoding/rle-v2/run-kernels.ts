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
  gtU,
  type KernelFunction,
  load8,
  loadVector,
  loop,
  ltU,
  mul,
  ne,
  negateInts,
  negateLongs,
  or,
  set,
  shl,
  shrInts,
  shrLongs,
  shrU,
  splatInts,
  splatLongs,
  store32,
  storeVector,
  sub,
  swizzle,
  toLong,
  type Value,
  vectorAnd,
  vectorOf,
  vectorXor,
  when,
} from '../../wasm/assembler.js';
import { instantiate, type KernelCalls } from '../../wasm/instance.js';
import { decodeBitWidth } from './widths.js';

/*
 * Consecutive direct runs (drawn in decoder.ts) of whole bytes, in WebAssembly with vectors of 16 bytes: a permutation puts
 * the big endian bytes of 4 or 2 values in order, zigzag is undone in all at once. A kernel stops before the first run
 * that is of another form or width, that ends behind the bytes, or has more values than there is room for. It answers
 * the number of values and leaves the bytes it used at USED. Vectors may be read and written up to 16 bytes too far.
 */
const USED = 0;
const SOURCE = 64;
/** Values of one call. */
const MOST_VALUES = 8192;
const SOURCE_BYTES = MOST_VALUES * 8 + 1024;
const OUTPUT = SOURCE + SOURCE_BYTES + 64;
const PAGES = Math.ceil((OUTPUT + MOST_VALUES * 8 + 64) / (1 << 16));
/** Below, the calls cost more than they save. */
const LEAST_VALUES = 64;
const NO_BYTE = 0x80;

/** For each of `count` values of `width` bytes where its bytes come from, least significant first. */
function order(width: number, count: number): Code {
  const size = 16 / count;
  return vectorOf(
    Array.from({ length: 16 }, (_, at) => {
      const byte = at % size;
      return byte < width ? Math.floor(at / size) * width + (width - 1 - byte) : NO_BYTE;
    }),
  );
}

/** The values of a run of `width` bytes each, `each` at a time. */
function unpack(width: number, each: number, value: Code): Code {
  return when(
    eq('width', width),
    loop(
      'values',
      set('vector', swizzle(loadVector(0, 'src'), order(width, each))),
      storeVector(0, 'at', value),
      advance('src', width * each),
      advance('at', 16),
      branchIf('values', ltU('at', 'stop')),
    ),
  );
}

function kernel<Name extends string>(name: Name, widths: readonly number[], size: 4 | 8): KernelFunction<Name> {
  const each = 16 / size;
  const [splat, negate, shift]: ((...operands: Value[]) => Code)[] =
    size === 4 ? [splatInts, negateInts, shrInts] : [splatLongs, negateLongs, shrLongs];
  const value = vectorXor(shift('vector', 'zigzag'), negate(vectorAnd('vector', 'ones')));
  const code = and(shrU(load8(0, 'next'), 1), 31);
  return {
    name,
    parameters: ['next', 'end', 'at', 'outEnd', 'zigzag'],
    locals: ['begin', 'out', 'src', 'stop', 'count', 'width'],
    vectorLocals: ['vector', 'ones'],
    body: [
      set('begin', 'next'),
      set('out', 'at'),
      set('ones', splat(size === 4 ? 'zigzag' : toLong('zigzag'))),
      block(
        'done',
        loop(
          'run',
          branchIf('done', ltU(sub('end', 'next'), 2)),
          branchIf('done', ne(shrU(load8(0, 'next'), 6), 1)),
          set('width', 0),
          ...widths.map((width) => when(eq(code, widthCode(width)), set('width', width))),
          branchIf('done', eq('width', 0)),
          // Unsigned int32 of 4 bytes need a check that they fit.
          ...(size === 4 ? [branchIf('done', gtU('width', add(3, 'zigzag')))] : []),
          set('count', add(or(shl(and(load8(0, 'next'), 1), 8), load8(1, 'next')), 1)),
          branchIf('done', gtU(mul('count', size), sub('outEnd', 'at'))),
          branchIf('done', gtU(add(mul('count', 'width'), 2), sub('end', 'next'))),
          set('src', add('next', 2)),
          set('next', add('src', mul('count', 'width'))),
          set('stop', add('at', mul('count', size))),
          ...widths.map((width) => unpack(width, each, value)),
          set('at', 'stop'),
          branch('run'),
        ),
      ),
      store32(USED, 0, sub('next', 'begin')),
      answer(shrU(sub('at', 'out'), size === 4 ? 2 : 3)),
    ],
  };
}

function widthCode(bytes: number): number {
  for (let code = 0; code < 32; code++) if (decodeBitWidth(code) === bytes * 8) return code;
  throw new RangeError(`no run has values of ${bytes} bytes`);
}

const INT_WIDTHS = [1, 2, 3, 4];
const LONG_WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8];
const LONG_CODES = new Set(LONG_WIDTHS.map(widthCode));

class RunKernels {
  private readonly calls: KernelCalls<'ints' | 'longs'> = instantiate(
    [kernel('ints', INT_WIDTHS, 4), kernel('longs', LONG_WIDTHS, 8)],
    PAGES,
  );
  private readonly bytes = new Uint8Array(this.calls.memory.buffer);
  private readonly words = new Int32Array(this.calls.memory.buffer);
  /** Bytes that the last call used. */
  used = 0;

  decode(kind: 'ints' | 'longs', source: Uint8Array, at: number, room: number, zigzag: 0 | 1): Int32Array {
    const size = kind === 'ints' ? 4 : 8;
    const most = Math.min(room, MOST_VALUES);
    const width = decodeBitWidth((source[at] >>> 1) & 31) >>> 3;
    const wanted = Math.min(source.length - at, most * width + SOURCE_BYTES - MOST_VALUES * 8, SOURCE_BYTES);
    this.bytes.set(source.subarray(at, at + wanted), SOURCE);
    const count = this.calls[kind](SOURCE, SOURCE + wanted, OUTPUT, OUTPUT + most * size, zigzag);
    this.used = this.words[USED];
    return this.words.subarray(OUTPUT >>> 2, (OUTPUT + count * size) >>> 2);
  }
}

/** Undefined before the first use; false where the processor has no such vectors. */
let kernels: RunKernels | false | undefined;

/**
 * Decodes direct runs from source[at] on, at most `room` values: as int32, or as halves of int64. Answers undefined, having
 * done nothing, where there is no such run, else a view that is good until the next call; `usedBytes` is how long they were.
 */
export function decodeRuns(
  kind: 'ints' | 'longs',
  source: Uint8Array,
  at: number,
  room: number,
  zigzag: 0 | 1,
): Int32Array | undefined {
  if (room < LEAST_VALUES || at >= source.length || source[at] >>> 6 !== 1) return undefined;
  const code = (source[at] >>> 1) & 31;
  if (!LONG_CODES.has(code)) return undefined;
  // Here too, before anything is copied.
  if (kind === 'ints' && decodeBitWidth(code) > (zigzag === 1 ? 32 : 24)) return undefined;
  kernels ??= runKernels();
  if (kernels === false) return undefined;
  const values = kernels.decode(kind, source, at, room, zigzag);
  return values.length === 0 ? undefined : values;
}

export function usedBytes(): number {
  return kernels === false || kernels === undefined ? 0 : kernels.used;
}

function runKernels(): RunKernels | false {
  try {
    return new RunKernels();
  } catch {
    // unpack-kernels.ts does the same, slower.
    return false;
  }
}
