import { SkepError } from '@skep/core';

/** Values refer to each other too deeply, in a circle most likely (Hive: VariableSubstitution, `hive.variable.substitute.depth`). */
export class SubstitutionDepthError extends SkepError {
  constructor(text: string, depth: number) {
    super('SUBSTITUTION_DEPTH', 'invalid', `variable substitution depth is greater than ${depth}: ${text}`, {
      hiveCode: 40000,
      sqlState: '42000',
    });
  }
}

const REFERENCE = /\$\{([^}$ ]+)\}/;

/**
 * Puts values in place of `${hiveconf:x}`, `${env:X}`, `${system:x}`, `${hivevar:x}` and `${x}`, as Hive does before it parses
 * (org.apache.hadoop.hive.conf.VariableSubstitution). `lookup` gets what stands between the braces and answers undefined for
 * a name it has not: that reference stays as it is. Values may hold references; more than `depth` rounds are an error.
 */
export function substitute(text: string, lookup: (name: string) => string | undefined, depth = 40): string {
  if (!text.includes('${')) return text;
  let value = text;
  for (let round = 0; round <= depth; round++) {
    const next = substituteOnce(value, lookup);
    if (next === value) return value;
    value = next;
  }
  throw new SubstitutionDepthError(text, depth);
}

/** One pass from left to right; a value that was put in is not looked at again until the next pass. */
function substituteOnce(text: string, lookup: (name: string) => string | undefined): string {
  let done = '';
  let rest = text;
  for (let match = REFERENCE.exec(rest); match !== null; match = REFERENCE.exec(rest)) {
    done += rest.slice(0, match.index) + (lookup(match[1]) ?? match[0]);
    rest = rest.slice(match.index + match[0].length);
  }
  return done + rest;
}
