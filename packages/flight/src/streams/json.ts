import { BadRequestError } from './errors.js';

/** JSON that a client sent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** An object out of bytes; `what` tells the client which of its messages is meant. Empty bytes are an empty object. */
export function parseObject(bytes: Uint8Array, what: string): JsonObject {
  if (bytes.length === 0) return {};
  let value: Json;
  try {
    value = JSON.parse(UTF8.decode(bytes));
  } catch (cause) {
    throw new BadRequestError(`${what} is no JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
  return asObject(value, what);
}

export function asObject(value: Json, what: string): JsonObject {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as JsonObject;
  throw new BadRequestError(`${what} must be a JSON object`);
}

/** A field that is not known may be a misspelt one. */
export function onlyFields(object: JsonObject, known: readonly string[], what: string): void {
  const other = Object.keys(object).find((key) => !known.includes(key));
  if (other !== undefined)
    throw new BadRequestError(`${what} has no field '${other}': it may have ${known.join(', ') || 'none'}`);
}

export function optionalText(object: JsonObject, key: string, what: string): string | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new BadRequestError(`${what}: ${key} must be a string`);
}

export function requiredText(object: JsonObject, key: string, what: string): string {
  const value = optionalText(object, key, what);
  if (value !== undefined && value !== '') return value;
  throw new BadRequestError(`${what} needs the field ${key}, a string`);
}

export function optionalFlag(object: JsonObject, key: string, what: string): boolean {
  const value = object[key];
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw new BadRequestError(`${what}: ${key} must be true or false`);
}

export function optionalChoice<T extends string>(
  object: JsonObject,
  key: string,
  choices: readonly T[],
  what: string,
): T | undefined {
  const value = optionalText(object, key, what);
  if (value === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw new BadRequestError(`${what}: ${key} is one of ${choices.join(', ')}, not '${value}'`);
}

/** An id: a number, or text where it may pass 2^53. */
export function optionalId(object: JsonObject, key: string, what: string): bigint | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return BigInt(value);
  if (typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value)) return BigInt(value);
  throw new BadRequestError(`${what}: ${key} must be a transaction's id`);
}

export function requiredId(object: JsonObject, key: string, what: string): bigint {
  const id = optionalId(object, key, what);
  if (id !== undefined) return id;
  throw new BadRequestError(`${what} needs the field ${key}, a transaction's id`);
}

/** An id as JSON has it: a number while that is exact. */
export const idAsJson = (id: bigint): number | string =>
  id <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(id) : String(id);

export const jsonBytes = (value: unknown): Buffer =>
  Buffer.from(JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? idAsJson(v) : v)));
