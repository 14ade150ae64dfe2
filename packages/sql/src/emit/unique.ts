import type { HiveType } from '../types/hive-type.js';
import type { UdfCollector } from './udfs.js';

/** A value as a key: equal values have equal keys. */
export const valueKey = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part));

/** SQL of a list without repetitions, in the order of first occurrence. */
export const uniqueList = (udfs: UdfCollector, type: HiveType, list: string): string =>
  udfs.call('unique', [type], type, [list], (items) => {
    const seen = new Map<string, unknown>();
    for (const item of items as unknown[]) {
      const key = valueKey(item);
      if (!seen.has(key)) seen.set(key, item);
    }
    return [...seen.values()] as never;
  });
