import type { BytesVector } from '../../vector.js';

const BLANK = 0x20;

/** Bytes cut by offsets. */
interface Texts {
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;
}

/**
 * Texts of char(n) and varchar(n) as files have them (ORC-406): at most n characters (code points), char filled up to n
 * with blanks. Answers the vector itself where all rows are so already, else the rows alone.
 */
export function fitCharacters(vector: BytesVector, from: number, count: number, maximumLength: number): Texts {
  const { bytes, offsets } = vector;
  const fill = vector.kind === 'char';
  let row = from;
  while (row < from + count && fits(bytes, offsets[row], offsets[row + 1], maximumLength, fill)) row++;
  if (row === from + count) return vector;
  const sizes = offsets[from + count] - offsets[from] + (fill ? count * maximumLength : 0);
  const out = new Uint8Array(sizes);
  const outOffsets = new Int32Array(count + 1);
  let to = 0;
  for (let i = 0; i < count; i++) {
    const start = offsets[from + i];
    const end = offsets[from + i + 1];
    const cut = endOfCharacters(bytes, start, end, maximumLength);
    out.set(bytes.subarray(start, cut.end), to);
    to += cut.end - start;
    if (fill) {
      out.fill(BLANK, to, to + maximumLength - cut.characters);
      to += maximumLength - cut.characters;
    }
    outOffsets[i + 1] = to;
  }
  return { bytes: out, offsets: outOffsets };
}

function fits(bytes: Uint8Array, start: number, end: number, maximumLength: number, fill: boolean): boolean {
  if (!fill && end - start <= maximumLength) return true;
  const cut = endOfCharacters(bytes, start, end, maximumLength);
  return cut.end === end && (!fill || cut.characters === maximumLength);
}

/** The end of the first `most` characters, and how many there are. */
function endOfCharacters(
  bytes: Uint8Array,
  start: number,
  end: number,
  most: number,
): { end: number; characters: number } {
  let characters = 0;
  for (let at = start; at < end; at++) {
    if ((bytes[at] & 0xc0) === 0x80) continue;
    if (characters === most) return { end: at, characters };
    characters++;
  }
  return { end, characters };
}
