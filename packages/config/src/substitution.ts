const MOST_ROUNDS = 20;

const VARIABLE = /\$\{([^{}$\s]+)\}/;

/** Where a variable of a site file may come from. */
export interface VariableSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Java's system properties that site files use: user.name, user.home, java.io.tmpdir. */
  readonly system: Readonly<Record<string, string | undefined>>;
  /** Another parameter's value. */
  readonly parameter: (name: string) => string | undefined;
}

/**
 * Replaces `${name}` in a value as Hadoop does (org.apache.hadoop.conf.Configuration.substituteVars): `env.NAME` of the environment
 * (`env.NAME:-TEXT` where it may be unset), a system property, another parameter. What nobody knows, or needs itself, stays.
 */
export function substituteVariables(value: string, sources: VariableSources): string {
  let text = value;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const match = VARIABLE.exec(text);
    if (match === null) return text;
    const found = meaningOf(match[1], sources);
    if (found === undefined || found.includes(match[0])) return text;
    text = text.slice(0, match.index) + found + text.slice(match.index + match[0].length);
  }
  return text;
}

function meaningOf(name: string, { env, system, parameter }: VariableSources): string | undefined {
  const inEnvironment = /^env\.([^:-]+)(:?-)?(.*)$/.exec(name);
  if (inEnvironment === null) return system[name] ?? parameter(name);
  const [, variable, dash, instead] = inEnvironment;
  const value = env[variable];
  if (dash === ':-') return value === undefined || value === '' ? instead : value;
  return value ?? (dash === '-' ? instead : undefined);
}
