import { InvalidConfigError } from './errors.js';
import type { Parameter, TimeUnit } from './parameter.js';

const UNIT_MS: Readonly<Record<TimeUnit, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** HiveConf.unitFor: by the first letters, so `min`, `minutes`, `msec` are all known. */
function unitOf(text: string): TimeUnit | undefined {
  const unit = text.toLowerCase();
  if (unit === 'd' || unit.startsWith('day')) return 'd';
  if (unit === 'h' || unit.startsWith('hour')) return 'h';
  if (unit === 'm' || unit.startsWith('min')) return 'min';
  if (unit === 's' || unit.startsWith('sec')) return 's';
  if (unit === 'ms' || unit.startsWith('msec') || unit.startsWith('milli')) return 'ms';
  if (unit === 'us' || unit.startsWith('usec') || unit.startsWith('micro')) return 'us';
  if (unit === 'ns' || unit.startsWith('nsec') || unit.startsWith('nano')) return 'ns';
  return undefined;
}

/** `300s`, `5 min`, or a number of `defaultUnit`; undefined where it is none. */
export function parseTimeMs(text: string, defaultUnit: TimeUnit = 'ms'): number | undefined {
  const match = /^(-?\d+)(?:L|\s*([A-Za-z]+))?$/.exec(text.trim());
  if (match === null) return undefined;
  const unit = match[2] === undefined ? defaultUnit : unitOf(match[2]);
  return unit === undefined ? undefined : Number(match[1]) * UNIT_MS[unit];
}

/** Java accepts either letter case; anything else is an error to SET. */
export function parseBoolean(text: string): boolean | undefined {
  const lower = text.trim().toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : undefined;
}

export function parseInteger(text: string): number | undefined {
  const number = Number(text.trim());
  return /^[+-]?\d+$/.test(text.trim()) && Number.isSafeInteger(number) ? number : undefined;
}

export function parseFloatValue(text: string): number | undefined {
  const number = Number(text.trim().replace(/[fd]$/i, ''));
  return text.trim() === '' || !Number.isFinite(number) ? undefined : number;
}

function rangeText(parameter: Parameter): string {
  const { min, max } = parameter;
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}

/** A time is never below 0, unless `min` says so. */
const leastMs = ({ min }: Parameter): number => min ?? 0;

const timeRange = (parameter: Parameter): string =>
  leastMs(parameter) > 0 ? ' of more than 0' : leastMs(parameter) === 0 ? ', not below 0' : '';

/** What `checkValue` wants, in words. */
export function expectation(parameter: Parameter): string {
  if (parameter.values !== undefined) return `one of [${parameter.values.join(', ')}]`;
  const range = rangeText(parameter);
  switch (parameter.type) {
    case 'boolean':
      return 'BOOLEAN type value (true or false)';
    case 'time':
      return `TIME type value (a number and a unit, as 300s, 5min, 500ms; without unit: ${parameter.unit ?? 'ms'})${timeRange(parameter)}`;
    case 'string':
      return 'STRING type value';
    default:
      return `${parameter.type.toUpperCase()} type value${range}`;
  }
}

function isValid(parameter: Parameter, text: string): boolean {
  if (parameter.values !== undefined) return parameter.values.includes(text.trim().toLowerCase());
  if (parameter.type === 'string') return true;
  if (parameter.type === 'boolean') return parseBoolean(text) !== undefined;
  if (parameter.type === 'time') {
    const ms = parseTimeMs(text, parameter.unit);
    return ms !== undefined && ms >= leastMs(parameter);
  }
  const number = parameter.type === 'float' ? parseFloatValue(text) : parseInteger(text);
  if (number === undefined) return false;
  return number >= (parameter.min ?? -Infinity) && number <= (parameter.max ?? Infinity);
}

/** Throws where the parameter cannot have this value. */
export function checkValue(parameter: Parameter, key: string, text: string, where?: string): void {
  if (!isValid(parameter, text)) throw new InvalidConfigError(key, text, expectation(parameter), where);
}
