import type { Parameter } from './parameter.js';
import { poolThreads } from './parameters/compactor.js';

/** Names of which somebody else makes up a part: pools, callers, properties within properties. */
const FAMILIES: readonly (readonly [pattern: RegExp, parameter: (name: string, part: string) => Parameter])[] = [
  [/^(?:hive|metastore)\.compactor\.worker\.(.+)\.threads$/, (_, pool) => poolThreads(pool)],
  [
    /^hadoop\.proxyuser\.(.+)\.(?:hosts|users|groups)$/,
    (name, user) => ({
      name,
      type: 'string',
      default: '',
      doc: `${{ hosts: 'From where', users: 'For which users', groups: 'For members of which groups' }[name.slice(name.lastIndexOf('.') + 1)]} the user ${user} may act for others; * is any.`,
      effect: 'yes',
      place: 'Hadoop',
    }),
  ],
  [
    /^compactorthreshold\.(.+)$/,
    (name, of) => ({
      name,
      type: 'string',
      default: '',
      doc: `${of} for one table.`,
      effect: 'none',
      why: 'the Initiator asks a table for hive.compactor.delta.num.threshold and hive.compactor.delta.pct.threshold only, as in Hive',
      place: 'table property',
    }),
  ],
  [
    /^compactor\.(.+)$/,
    (name, of) => ({
      name,
      type: 'string',
      default: '',
      doc: `${of} of the Hadoop job of a compaction.`,
      effect: 'none',
      why: 'compactions run in skep itself, not as Hadoop jobs',
      place: 'request property',
    }),
  ],
  [
    /^tblprops\.(.+)$/,
    (name, of) => ({
      name,
      type: 'string',
      default: '',
      doc: `The property ${of} of what one compaction writes, whatever the table's is (WITH OVERWRITE TBLPROPERTIES).`,
      place: 'request property',
      ...(/^orc\./i.test(of)
        ? { effect: 'yes' }
        : { effect: 'none', why: 'of the properties of a table those of ORC, orc.…, decide how a compaction writes' }),
    }),
  ],
];

/** A parameter for each name of a family. */
export function familyParameter(name: string): Parameter | undefined {
  for (const [pattern, parameter] of FAMILIES) {
    const part = pattern.exec(name)?.[1];
    if (part !== undefined) return parameter(name, part);
  }
  return undefined;
}
