import { descriptions } from './descriptions.js';
import { findFunction } from './registry.js';

/** DESCRIBE FUNCTION [EXTENDED] name: its lines. */
export function describeFunction(name: string, extended: boolean): string[] {
  const found = findFunction(name);
  if (found === undefined) return [`Function '${name}' does not exist.`];
  const [first] = found.names;
  const call = /^[a-z_]\w*$/.test(first) ? `${name}(${found.usage})` : `a ${name} b`;
  const others = found.names.filter((other) => other !== name);
  return [
    `${call} - ${descriptions[first]}`,
    ...(extended && others.length > 0 ? [`Synonyms: ${others.join(', ')}`] : []),
    ...(extended ? ['Function type:BUILTIN'] : []),
  ];
}
