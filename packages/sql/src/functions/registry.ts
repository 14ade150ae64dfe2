import { aggregateFunctions } from './aggregates.js';
import { collectionFunctions } from './collections.js';
import { conditionalFunctions } from './conditionals.js';
import { conversionFunctions } from './conversions.js';
import { dateFunctions } from './dates.js';
import type { AggregateFunction, HiveFunction } from './definition.js';
import { formatFunctions } from './formats.js';
import { hashFunctions } from './hashes.js';
import { maskFunctions } from './masks.js';
import { mathFunctions } from './maths.js';
import { ngramAggregates, ngramScalars } from './ngrams.js';
import { operatorFunctions } from './operators.js';
import { hypotheticalAggregates, orderedAggregates } from './ordered-aggregates.js';
import { regexFunctions } from './regex.js';
import { runtimeFunctions } from './runtime.js';
import { stringFunctions } from './strings.js';
import { tableFunctions } from './tables.js';
import { textFunctions } from './texts.js';
import { timeFunctions } from './times.js';
import { windowFunctions } from './windows.js';
import { xpathFunctions } from './xpaths.js';

let byName: Map<string, HiveFunction> | undefined;

/** Every function of HiveQL that skep has, one entry a function (org.apache.hadoop.hive.ql.exec.FunctionRegistry). */
export const allFunctions = (): readonly HiveFunction[] => [
  ...stringFunctions,
  ...textFunctions,
  ...regexFunctions,
  ...dateFunctions,
  ...mathFunctions,
  ...conditionalFunctions,
  ...collectionFunctions,
  ...conversionFunctions,
  ...hashFunctions,
  ...formatFunctions,
  ...maskFunctions,
  ...runtimeFunctions,
  ...aggregateFunctions,
  ...windowFunctions,
  ...tableFunctions,
  ...xpathFunctions,
  ...ngramScalars,
  ...ngramAggregates,
  ...orderedAggregates,
  ...operatorFunctions,
  ...timeFunctions,
];

/** RANK(x) WITHIN GROUP (ORDER BY y) and its kin, which are window functions otherwise. */
export const findHypothetical = (name: string): AggregateFunction | undefined =>
  hypotheticalAggregates.find((fn) => fn.names.includes(name.toLowerCase()));

export function findFunction(name: string): HiveFunction | undefined {
  if (byName === undefined) {
    byName = new Map();
    for (const fn of allFunctions()) for (const alias of fn.names) byName.set(alias, fn);
  }
  return byName.get(name.toLowerCase());
}

/** All names, sorted: SHOW FUNCTIONS. */
export const functionNames = (): string[] => [...new Set(allFunctions().flatMap((fn) => fn.names))].sort();
