import {
  add,
  advance,
  answer,
  branchIf,
  type Code,
  divU,
  gtU,
  isZero,
  load8,
  load64,
  loop,
  ltU,
  mul,
  set,
  store8,
  store64,
  sub,
  when,
  whenElse,
} from '../wasm/assembler.js';

/*
 * What decompressing kernels share. They work on locals: src, srcEnd (literals), dst, dstEnd, start (where the output
 * begins), length, distance, from, stop. Every length and distance is checked. Copies go in words that may read and write
 * up to SLACK_BYTES behind both ranges: that much memory belongs to nobody.
 */
export const SLACK_BYTES = 64;
/** What a kernel answers for a block that cannot be; no output begins at this address. */
export const CORRUPT = 0;

export const corruptIf = (condition: Code): Code => when(condition, answer(CORRUPT));

const copySixteen: readonly Code[] = [
  store64(0, 'dst', load64(0, 'from')),
  // Behind what was just written, which is where a distance of 8 to 15 begins to repeat.
  store64(8, 'dst', load64(8, 'from')),
];

/** The rest of a copy whose first 16 bytes are there, `step` bytes at a time. */
function copyOn(step: 8 | 16): Code {
  const next = step === 16 ? copySixteen : copySixteen.slice(0, 1);
  return loop('on', ...next, advance('from', step), advance('dst', step), branchIf('on', ltU('dst', 'stop')));
}

/** `length` literals from src on. Most are few: those take no branch that depends on their number. */
export const copyLiterals: readonly Code[] = [
  corruptIf(gtU('length', sub('srcEnd', 'src'))),
  corruptIf(gtU('length', sub('dstEnd', 'dst'))),
  set('from', 'src'),
  set('stop', add('dst', 'length')),
  ...copySixteen,
  when(gtU('length', 16), advance('from', 16), advance('dst', 16), copyOn(16)),
  set('dst', 'stop'),
  advance('src', 'length'),
];

const BYTES = [0, 1, 2, 3, 4, 5, 6, 7];

/** `length` bytes from `distance` before; nearer ones repeat, so that they go byte by byte until they are 8 bytes apart. */
export const copyMatch: readonly Code[] = [
  corruptIf(isZero('distance')),
  corruptIf(gtU('distance', sub('dst', 'start'))),
  corruptIf(gtU('length', sub('dstEnd', 'dst'))),
  set('from', sub('dst', 'distance')),
  set('stop', add('dst', 'length')),
  whenElse(
    ltU('distance', 8),
    [
      ...BYTES.map((i) => store8(i, 'dst', load8(i, 'from'))),
      advance('dst', 8),
      // The least multiple of the distance from 8 on.
      set('from', sub('dst', mul('distance', divU(add('distance', 7), 'distance')))),
      when(ltU('dst', 'stop'), copyOn(8)),
    ],
    [
      ...copySixteen,
      when(
        gtU('length', 16),
        advance('from', 16),
        advance('dst', 16),
        whenElse(ltU('distance', 16), [copyOn(8)], [copyOn(16)]),
      ),
    ],
  ),
  set('dst', 'stop'),
];
