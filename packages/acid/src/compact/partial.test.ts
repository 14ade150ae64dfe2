import { describe, expect, it } from 'vitest';
import type { AcidState } from '../state/acid-directory.js';
import { partsOf } from './partial.js';

type Delta = AcidState['deltas'][number];
const delta = (text: string): Delta => {
  const [kind, min, max, statementId] = text.split(' ');
  const ids = { minWriteId: BigInt(min), maxWriteId: BigInt(max), statementId: Number(statementId ?? 0) };
  return {
    kind: kind === 'x' ? 'deleteDelta' : 'delta',
    path: text,
    name: text,
    files: [],
    ...ids,
  } as unknown as Delta;
};
const parts = (names: string[], most: number) => partsOf(names.map(delta), most).map((part) => part.map((d) => d.path));

describe('parts of many deltas', () => {
  it('hold no more than the limit, in order', () => {
    const names = Array.from({ length: 7 }, (_, i) => `d ${i + 1} ${i + 1}`);
    expect(parts(names, 3).map((part) => part.length)).toEqual([3, 3, 1]);
    expect(parts(names, 3).flat()).toEqual(names);
    expect(parts(names, 7)).toEqual([names]);
  });

  it('keep the folders of one range of write ids together (B50)', () => {
    expect(parts(['d 5 5 0', 'd 5 5 1', 'd 5 5 2', 'd 6 6'], 2)).toEqual([
      ['d 5 5 0', 'd 5 5 1', 'd 5 5 2'],
      ['d 6 6'],
    ]);
    expect(parts(['d 1 1', 'd 2 2', 'x 2 2', 'd 3 3'], 2)).toEqual([['d 1 1'], ['d 2 2', 'x 2 2'], ['d 3 3']]);
    expect(parts(['d 1 4', 'x 2 3', 'd 5 5'], 2)).toEqual([['d 1 4', 'x 2 3'], ['d 5 5']]);
  });
});
