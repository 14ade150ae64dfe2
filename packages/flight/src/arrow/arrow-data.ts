import { getBit, type TypeDescription, typeToString } from '@skep/orc';
import { type Data, Type } from 'apache-arrow';
import { ArrowMappingError } from './errors.js';

/** What reading any column of a record batch needs: its validity, and the errors where it is not what it should be. */

export function mismatch(data: Data, target: TypeDescription, path: string): ArrowMappingError {
  return new ArrowMappingError('TYPE_MISMATCH', `column ${path} is ${typeToString(target)}, not Arrow's ${data.type}`);
}

export function expect(data: Data, target: TypeDescription, path: string, ...ids: readonly Type[]): void {
  if (!ids.includes(data.type.typeId)) throw mismatch(data, target, path);
}

export function outOfRange(
  value: number | bigint,
  row: number,
  target: TypeDescription,
  path: string,
): ArrowMappingError {
  const type = typeToString(target);
  return new ArrowMappingError('NOT_REPRESENTABLE', `column ${path}, row ${row} of the batch: ${value} is no ${type}`);
}

export function validityOf(data: Data): Uint8Array | undefined {
  // Unions have none; the library counts the NULLs of their alternatives instead.
  const bitmap: Uint8Array | undefined | null = data.nullBitmap;
  if (!bitmap?.length || data.nullCount === 0) return undefined;
  if (data.offset === 0) return bitmap;
  const shifted = new Uint8Array(Math.ceil(data.length / 8));
  for (let row = 0; row < data.length; row++) {
    if (getBit(bitmap, data.offset + row)) shifted[row >> 3] |= 1 << (row & 7);
  }
  return shifted;
}

export const isValid = (validity: Uint8Array | undefined, row: number): boolean =>
  validity === undefined || getBit(validity, row);

/** Elements of the values buffer that `length` rows need; undefined: not of fixed width. */
function neededValues(data: Data): number | undefined {
  switch (data.type.typeId) {
    case Type.Bool:
      return Math.ceil((data.offset + data.length) / 8);
    case Type.Decimal:
      return data.length * ((data.type as unknown as { bitWidth: number }).bitWidth / 32);
    case Type.FixedSizeBinary:
      return data.length * (data.type as unknown as { byteWidth: number }).byteWidth;
    case Type.Int:
    case Type.Float:
    case Type.Date:
    case Type.Timestamp:
      return data.length;
    default:
      return undefined;
  }
}

/** Buffers of a client may be shorter than its counts say: nothing is read beyond them. */
export function checkBuffers(data: Data, path: string): void {
  const needed = neededValues(data);
  const { values } = data as { values?: ArrayLike<unknown> | null };
  if (needed !== undefined && (values?.length ?? 0) < needed) {
    throw tooShort(path, 'values', values?.length ?? 0, needed);
  }
  const bitmap: Uint8Array | undefined | null = data.nullBitmap;
  const bits = Math.ceil((data.offset + data.length) / 8);
  if (bitmap?.length && bitmap.length < bits) throw tooShort(path, 'validity', bitmap.length, bits);
}

/** Offsets begin at 0 or above, never go down, and end within `limit`. */
export function checkOffsets(offsets: Int32Array, limit: number, path: string): Int32Array {
  let before = 0;
  for (const offset of offsets) {
    if (offset < before || offset > limit) {
      const why = `the offset ${offset} after ${before} is not within its ${limit} values`;
      throw new ArrowMappingError('BAD_ARROW_DATA', `column ${path}: ${why}`);
    }
    before = offset;
  }
  return offsets;
}

function tooShort(path: string, what: string, there: number, needed: number): ArrowMappingError {
  return new ArrowMappingError(
    'BAD_ARROW_DATA',
    `column ${path}: its ${what} have ${there} entries, ${needed} are needed`,
  );
}
