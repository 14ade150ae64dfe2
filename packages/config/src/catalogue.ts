import { familyParameter } from './families.js';
import type { Parameter } from './parameter.js';
import { COMPACTOR_PARAMETERS } from './parameters/compactor.js';
import { METASTORE_PARAMETERS } from './parameters/metastore.js';
import { SESSION_PARAMETERS } from './parameters/session.js';
import { TABLE_PROPERTIES } from './parameters/table-properties.js';
import { TRANSACTION_PARAMETERS } from './parameters/transactions.js';

/** Parameters by subject, in the order of the documentation. */
export const PARAMETER_GROUPS: readonly (readonly [title: string, parameters: readonly Parameter[]])[] = [
  ['Transactions and locks', TRANSACTION_PARAMETERS],
  ['Compaction', COMPACTOR_PARAMETERS],
  ['Metastore, housekeeping, metrics', METASTORE_PARAMETERS],
  ['Session', SESSION_PARAMETERS],
  ['Properties of tables and requests', TABLE_PROPERTIES],
];

/** A parameter as found under one of its names. */
export interface FoundParameter {
  readonly parameter: Parameter;
  /** The name is an old or misspelt one. */
  readonly isDeprecated: boolean;
}

let byName: Map<string, FoundParameter> | undefined;

/** All names of a parameter but its own and the deprecated ones. */
export function otherNames(parameter: Parameter): string[] {
  const primary = parameter.inMetastoreConf ? [parameter.name.replace(/^hive\./, 'metastore.')] : [];
  return [...new Set([...primary, ...(parameter.aliases ?? [])])];
}

/** Made when first asked for: most processes look up a dozen names at most. */
function index(): Map<string, FoundParameter> {
  if (byName !== undefined) return byName;
  byName = new Map();
  for (const [, parameters] of PARAMETER_GROUPS) {
    for (const parameter of parameters) {
      for (const name of [parameter.name, ...otherNames(parameter)])
        byName.set(name, { parameter, isDeprecated: false });
      for (const name of parameter.deprecated ?? []) byName.set(name, { parameter, isDeprecated: true });
    }
  }
  return byName;
}

export function findParameter(name: string): FoundParameter | undefined {
  const known = index().get(name);
  if (known !== undefined) return known;
  const parameter = familyParameter(name);
  return parameter === undefined ? undefined : { parameter, isDeprecated: false };
}

export function allParameters(): Parameter[] {
  return PARAMETER_GROUPS.flatMap(([, parameters]) => parameters);
}
