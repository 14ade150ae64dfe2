import { allParameters, findParameter, otherNames } from './catalogue.js';
import { ConfigError, InvalidConfigError } from './errors.js';
import { likeNames } from './like-names.js';
import type { Parameter } from './parameter.js';
import { ACCEPTED_PREFIXES } from './parameters/session.js';
import { isReadAtStart } from './server-parameters.js';
import type { SiteProperty } from './site-file.js';
import { substituteVariables } from './substitution.js';
import { checkValue, expectation, parseBoolean, parseFloatValue, parseInteger, parseTimeMs } from './value.js';

/** What SHOW CONF and `skep config NAME` tell of a parameter. */
export interface ParameterDescription {
  readonly name: string;
  readonly default: string;
  /** In Hive's words: BOOLEAN, INT, LONG, FLOAT, STRING, TIME. */
  readonly type: string;
  readonly doc: string;
  readonly parameter: Parameter;
}

/**
 * The values of all parameters: Hive's defaults, then the site file and environment, then what a session SETs.
 * `fork` gives a session its own layer, which `reset` empties. Names may be any of a parameter's (HiveConf,
 * MetastoreConf, old and misspelt ones); names nobody knows are kept as they are.
 */
export class Configuration {
  private readonly values = new Map<string, string>();

  constructor(
    private readonly base: ReadonlyMap<string, string> = new Map(),
    private readonly finals: ReadonlySet<string> = new Set(),
    private readonly isSession = false,
  ) {}

  /** A session's layer over what is set now; later changes of either do not reach the other. */
  fork(): Configuration {
    return new Configuration(new Map([...this.base, ...this.values]), this.finals, true);
  }

  /** The value in effect, or undefined if the parameter is unknown and was never set. */
  get(name: string): string | undefined {
    const parameter = findParameter(name)?.parameter;
    const key = parameter?.name ?? name;
    return this.values.get(key) ?? this.base.get(key) ?? parameter?.default;
  }

  /** Whether anybody gave it a value. */
  isSet(name: string): boolean {
    const key = findParameter(name)?.parameter.name ?? name;
    return this.values.has(key) || this.base.has(key);
  }

  getBoolean(name: string): boolean {
    return this.typed(name, parseBoolean);
  }

  getInt(name: string): number {
    return this.typed(name, parseInteger);
  }

  getFloat(name: string): number {
    return this.typed(name, parseFloatValue);
  }

  getTimeMs(name: string): number {
    const unit = findParameter(name)?.parameter.unit;
    return this.typed(name, (text) => parseTimeMs(text, unit));
  }

  /** Of what belongs to the metastore: as it is there, whatever the session has SET. */
  getServedTimeMs(name: string): number {
    return (this.isSession ? new Configuration(this.base) : this).getTimeMs(name);
  }

  /**
   * SET name=value. Answers with what the user should know (an old name, no effect here, unknown); throws
   * InvalidConfigError for a value of the wrong type. `where` it is from, if not from SET, is for the error.
   */
  set(name: string, value: string, where?: string): string[] {
    const found = findParameter(name);
    const key = found?.parameter.name ?? name;
    if (this.finals.has(key)) throw new ConfigError(name, `${name} is final in the site file and cannot be changed`);
    if (found !== undefined) checkValue(found.parameter, name, value, where);
    this.values.set(key, value);
    const notes =
      found === undefined ? notesOfUnknown(name) : notesOf(name, value, found.parameter, found.isDeprecated);
    return this.isSession && isReadAtStart(key) ? [...notes, ...this.noteOfServer(name, key, value)] : notes;
  }

  /** In a session that other value is nobody's. */
  private noteOfServer(name: string, key: string, value: string): string[] {
    const there = this.base.get(key) ?? findParameter(key)?.parameter.default;
    const unit = findParameter(key)?.parameter.unit;
    const isSame = (a: string, b: string) =>
      a.toLowerCase() === b.toLowerCase() || (unit !== undefined && parseTimeMs(a, unit) === parseTimeMs(b, unit));
    if (there !== undefined && isSame(there.trim(), value.trim())) return [];
    const is = there === undefined ? '' : ` and is ${there} there`;
    return [`${name} belongs to the metastore${is}: set it where that starts (--hiveconf, --config, SKEP_CONF_…)`];
  }

  /** RESET: all of this layer, or only these. */
  reset(names?: readonly string[]): void {
    if (names === undefined || names.length === 0) this.values.clear();
    else for (const name of names) this.values.delete(findParameter(name)?.parameter.name ?? name);
  }

  /**
   * A new configuration with the site file's and environment's values below; notes say what of it has no effect. `system`: what
   * variables in the site file mean beside the environment and other parameters.
   */
  static load(sources: {
    readonly site?: readonly SiteProperty[];
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly system?: Readonly<Record<string, string>>;
  }): { readonly conf: Configuration; readonly notes: string[] } {
    const { site = [], env = {}, system = {} } = sources;
    const keyOf = (name: string) => findParameter(name)?.parameter.name ?? name;
    const layer = new Configuration();
    const finals = new Set<string>();
    const notes: string[] = [];
    const raw = new Map<string, string>();
    const taken: SiteProperty[] = [];
    for (const property of site) {
      const key = keyOf(property.name);
      if (finals.has(key) || isLeftOut(property)) continue;
      taken.push(property);
      raw.set(key, property.value);
      if (property.isFinal) finals.add(key);
    }
    const parameter = (name: string) => raw.get(keyOf(name)) ?? layer.get(name);
    for (const { name, value, file } of taken) {
      notes.push(...layer.set(name, substituteVariables(value, { env, system, parameter }), file));
    }
    for (const [name, value, variable] of environmentParameters(env)) {
      if (!finals.has(keyOf(name))) notes.push(...layer.set(name, value, variable));
    }
    return { conf: new Configuration(layer.values, finals), notes };
  }

  /** Names and values sorted by name: what was set, with `defaults` everything. */
  entries(options: { readonly defaults?: boolean } = {}): [string, string][] {
    const all = new Map<string, string>();
    if (options.defaults) {
      for (const parameter of allParameters())
        if (parameter.place === undefined) all.set(parameter.name, parameter.default);
    }
    for (const [key, value] of [...this.base, ...this.values]) all.set(key, value);
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  describe(name: string): ParameterDescription | undefined {
    const parameter = findParameter(name)?.parameter;
    if (parameter === undefined) return undefined;
    const { default: value, doc } = parameter;
    return { name: parameter.name, default: value, type: parameter.type.toUpperCase(), doc, parameter };
  }

  /** What Hive's `SET name` prints. */
  setText(name: string): string {
    const value = this.get(name);
    return value === undefined ? `${name} is undefined` : `${name}=${value}`;
  }

  private typed<T>(name: string, parse: (text: string) => T | undefined): T {
    const text = this.get(name);
    if (text === undefined) throw new ConfigError(name, `there is no parameter ${name}`);
    const value = parse(text);
    if (value !== undefined) return value;
    const parameter = findParameter(name)?.parameter;
    throw new InvalidConfigError(name, text, parameter === undefined ? 'another type' : expectation(parameter));
  }
}

function notesOf(name: string, value: string, parameter: Parameter, isDeprecated: boolean): string[] {
  const notes: string[] = [];
  if (isDeprecated) notes.push(`${name} is an old name of ${parameter.name}, which is set`);
  if (parameter.place === 'table property' || parameter.place === 'request property') {
    const where =
      parameter.place === 'table property' ? 'TBLPROPERTIES' : 'TBLPROPERTIES or WITH OVERWRITE TBLPROPERTIES';
    notes.push(`${name} is a ${parameter.place}: write it in ${where}; SET has no effect`);
  } else if (parameter.effect === 'none') {
    notes.push(`${name} has no effect in skep: ${parameter.why ?? 'it does not apply here'}`);
  } else if (parameter.effect === 'fixed' && value.trim().toLowerCase() !== parameter.default.toLowerCase()) {
    notes.push(`${name} stays ${parameter.default} in skep: ${parameter.why ?? 'it cannot be changed'}`);
  }
  return notes;
}

function notesOfUnknown(name: string): string[] {
  if (ACCEPTED_PREFIXES.some((prefix) => name.startsWith(prefix))) return [];
  if (!/^(hive|metastore)\./.test(name)) return [];
  const [like] = likeNames(name);
  return [
    `${name} is not a parameter that skep knows; the value is kept${like === undefined ? '' : ` (is ${like} meant?)`}`,
  ];
}

/** An empty value is the default to Hadoop, unless it is a text. */
function isLeftOut({ name, value }: SiteProperty): boolean {
  const type = findParameter(name)?.parameter.type;
  return value === '' && type !== undefined && type !== 'string';
}

const ENVIRONMENT_PREFIX = 'SKEP_CONF_';

/** SKEP_CONF_hive_txn_timeout=60s: the name with `_` for `.`, so known names only. */
function environmentParameters(env: Readonly<Record<string, string | undefined>>): [string, string, string][] {
  const given = Object.entries(env).filter(([name]) => name.startsWith(ENVIRONMENT_PREFIX));
  if (given.length === 0) return [];
  const names = new Map<string, string>();
  for (const parameter of allParameters()) {
    for (const name of [...(parameter.deprecated ?? []), ...otherNames(parameter), parameter.name]) {
      names.set(name.replaceAll('.', '_'), name);
    }
  }
  return given.flatMap(([variable, value]) => {
    const name = names.get(variable.slice(ENVIRONMENT_PREFIX.length));
    if (name === undefined) throw new ConfigError(variable, `the environment variable ${variable} names no parameter`);
    return value === undefined ? [] : [[name, value, variable] as [string, string, string]];
  });
}
