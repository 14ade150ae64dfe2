import { createHash } from 'node:crypto';
import { STRING } from '../types/hive-type.js';
import { jsFunction } from './builder.js';
import type { ScalarFunction } from './definition.js';

type Mask = { upper: string; lower: string; digit: string };
const DEFAULT_MASK: Mask = { upper: 'X', lower: 'x', digit: 'n' };

const maskCharacter = (c: string, { upper, lower, digit }: Mask): string =>
  /\p{Lu}/u.test(c) ? upper : /\p{Ll}/u.test(c) ? lower : /\p{Nd}/u.test(c) ? digit : c;

/** MASK and kin (GenericUDFMask…): `range` says which characters of n are masked. */
const mask = (name: string, range: (length: number, count: number) => [number, number]): ScalarFunction =>
  jsFunction(
    'misc',
    name,
    name === 'mask' ? ['string', 'string?', 'string?', 'string?'] : ['string', 'int?', 'string?', 'string?', 'string?'],
    STRING,
    (s, ...rest) => {
      const characters = [...(s as string)];
      const counted = name !== 'mask';
      const count = counted && rest[0] !== undefined ? (rest[0] as number) : 4;
      const [upper, lower, digit] = (counted ? rest.slice(1) : rest) as (string | undefined)[];
      const letters: Mask = {
        upper: upper ?? DEFAULT_MASK.upper,
        lower: lower ?? DEFAULT_MASK.lower,
        digit: digit ?? DEFAULT_MASK.digit,
      };
      const [from, to] = range(characters.length, count);
      return characters.map((c, i) => (i >= from && i < to ? maskCharacter(c, letters) : c)).join('');
    },
  );

export const maskFunctions: readonly ScalarFunction[] = [
  mask('mask', (length) => [0, length]),
  mask('mask_first_n', (_, n) => [0, n]),
  mask('mask_last_n', (length, n) => [length - n, length]),
  mask('mask_show_first_n', (length, n) => [n, length]),
  mask('mask_show_last_n', (length, n) => [0, length - n]),
  jsFunction('misc', 'mask_hash', ['string'], STRING, (s) =>
    createHash('sha256')
      .update(s as string)
      .digest('hex'),
  ),
];
