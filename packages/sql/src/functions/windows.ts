import { semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { DOUBLE, type HiveType, INT } from '../types/hive-type.js';
import { convertArguments, result } from './builder.js';
import type { Call, Invoke, WindowFunction } from './definition.js';

const window = (name: string, usage: string, build: (call: Call, invoke: Invoke) => Expr): WindowFunction => ({
  kind: 'window',
  names: [name],
  category: 'window',
  usage,
  build,
});

const numbering = (name: string, type: HiveType): WindowFunction =>
  window(name, '', (call, invoke) => {
    if (call.args.length > 0) throw semantic(`Ranking functions take no arguments: ${call.name}`, call.position);
    const sql = invoke(name, '');
    return result(call, type, type.kind === 'int' ? `CAST(${sql} AS INTEGER)` : sql);
  });

/** LAG and LEAD: value, how far (1), what instead where there is no such row. */
const neighbour = (name: 'lag' | 'lead'): WindowFunction =>
  window(name, 'value, offset?, default?', (call, invoke) => {
    const [value, offset, other] = convertArguments(call, ['any', 'int?', 'any?']);
    if (typeof offset?.literal === 'bigint' && offset.literal < 0n) {
      throw semantic(`Lag/Lead amount can not be negative. Specified: ${offset.literal}`, offset.position);
    }
    // The default is converted to the value's type, and is NULL where it cannot be.
    const { type } = value;
    const args = [
      call.analysis.cast(value, type).sql,
      ...(offset === undefined ? [] : [offset.sql]),
      ...(other === undefined ? [] : [call.analysis.cast(other, type).sql]),
    ];
    return result(call, type, invoke(name, args.join(', ')));
  });

/** A second argument true leaves out NULLs. */
const edge = (name: 'first_value' | 'last_value'): WindowFunction =>
  window(name, 'value, ignore NULLs?', (call, invoke) => {
    const [value, ignore] = convertArguments(call, ['any', 'boolean?']);
    return result(call, value.type, invoke(name, ignore?.literal === true ? `${value.sql} IGNORE NULLS` : value.sql));
  });

export const windowFunctions: readonly WindowFunction[] = [
  numbering('row_number', INT),
  numbering('rank', INT),
  numbering('dense_rank', INT),
  numbering('percent_rank', DOUBLE),
  numbering('cume_dist', DOUBLE),
  window('ntile', 'buckets', (call, invoke) => {
    const [buckets] = convertArguments(call, ['int']);
    return result(call, INT, `CAST(${invoke('ntile', buckets.sql)} AS INTEGER)`);
  }),
  neighbour('lag'),
  neighbour('lead'),
  edge('first_value'),
  edge('last_value'),
];
