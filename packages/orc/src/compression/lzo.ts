/*
 * LZO1X decompression, as in the Linux kernel's description of the format (Documentation/staging/lzo.rst). Each
 * instruction byte's high bits give its kind; `state` is the number of literals (0 to 3) that the last one carried,
 * 4 after a run of literals.
 *
 *   0000LLLL             state 0: literals, 3 + L (L = 0: 18 + 255 per zero byte + the next)
 *   0000DDSS HHHHHHHH    state 1-3: 2 bytes from (H << 2) + D + 1; state 4: 3 bytes from (H << 2) + D + 2049
 *   0001HLLL (S…)        2 + L bytes (0: 9 + …) from 16384 + (H << 14) + D, D and SS in 2 bytes LE; distance 16384: the end
 *   001LLLLL (S…)        2 + L bytes (0: 33 + …) from D + 1, D and SS in 2 bytes LE
 *   01LDDDSS HHHHHHHH    3 + L bytes from (H << 3) + D + 1
 *   1LLDDDSS HHHHHHHH    5 + L bytes from (H << 3) + D + 1
 */
export function lzoDecompress(input: Uint8Array, maximumLength: number): Uint8Array {
  const out = new Uint8Array(maximumLength);
  let at = 0;
  let to = 0;
  let state = 0;

  const next = (): number => {
    if (at >= input.length) throw new RangeError('the lzo chunk ends early');
    return input[at++];
  };
  const longLength = (base: number): number => {
    let length = base;
    for (;;) {
      const byte = next();
      if (byte !== 0) return length + byte;
      length += 255;
      if (length > maximumLength) throw new RangeError(`more than ${maximumLength} bytes`);
    }
  };
  const literals = (count: number): void => {
    if (count > input.length - at) throw new RangeError('the lzo chunk ends early');
    if (count > out.length - to) throw new RangeError(`more than ${maximumLength} bytes`);
    out.set(input.subarray(at, at + count), to);
    at += count;
    to += count;
  };
  const copy = (distance: number, length: number): void => {
    if (distance > to) throw new RangeError('a distance reaches before the start');
    if (length > out.length - to) throw new RangeError(`more than ${maximumLength} bytes`);
    for (const end = to + length; to < end; to++) out[to] = out[to - distance];
  };

  if (input.length > 0 && input[0] > 17) {
    const count = next() - 17;
    literals(count);
    state = Math.min(count, 4);
  }
  for (;;) {
    const instruction = next();
    let trailing: number;
    if (instruction >= 64) {
      const high = next();
      const length = instruction >= 128 ? 5 + ((instruction >>> 5) & 3) : 3 + ((instruction >>> 5) & 1);
      copy((high << 3) + ((instruction >>> 2) & 7) + 1, length);
      trailing = instruction & 3;
    } else if (instruction >= 16) {
      const far = instruction < 32;
      const mask = far ? 7 : 31;
      const length = 2 + ((instruction & mask) === 0 ? longLength(mask) : instruction & mask);
      const low = next();
      const both = low | (next() << 8);
      const distance = far ? 16384 + ((instruction & 8) << 11) + (both >>> 2) : (both >>> 2) + 1;
      if (far && distance === 16384) {
        if (at !== input.length) throw new RangeError('bytes follow the end of the lzo chunk');
        return out.subarray(0, to);
      }
      copy(distance, length);
      trailing = both & 3;
    } else if (state === 0) {
      literals(instruction === 0 ? longLength(18) : 3 + instruction);
      state = 4;
      continue;
    } else {
      const high = next();
      const distance = (high << 2) + (instruction >>> 2) + (state === 4 ? 2049 : 1);
      copy(distance, state === 4 ? 3 : 2);
      trailing = instruction & 3;
    }
    literals(trailing);
    state = trailing;
  }
}
