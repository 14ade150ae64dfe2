import type { RecordedError } from './case-file.js';
import type { Difference } from './compare-rows.js';

/** Hive's code for "the task failed for a reason of its own". */
const NO_CODE = 40000;

/** Hive's `[Error N]` of a recorded error, where it gives one: in the text, or as the code of the statement. */
export function hiveCodeOf(error: RecordedError): number | undefined {
  const inText = /\[Error (\d+)\]/.exec(error.message)?.[1];
  if (inText !== undefined) return Number(inText);
  if (error.code >= 10000 && error.code !== NO_CODE) return error.code;
  const returned = Number(/return code (\d+)/.exec(error.message)?.[1] ?? 0);
  return returned >= 10000 && returned !== NO_CODE ? returned : undefined;
}

/** What of a thrown value counts. */
export interface GotError {
  readonly message: string;
  readonly hiveCode?: number;
  readonly sqlState?: string;
}

export function gotError(error: unknown): GotError {
  const fields = (typeof error === 'object' && error !== null ? error : {}) as {
    hiveCode?: unknown;
    sqlState?: unknown;
  };
  return {
    message: error instanceof Error ? error.message : String(error),
    ...(typeof fields.hiveCode === 'number' ? { hiveCode: fields.hiveCode } : {}),
    ...(typeof fields.sqlState === 'string' ? { sqlState: fields.sqlState } : {}),
  };
}

/** The same `[Error N]` where Hive gives one; otherwise an error that says why. */
export function compareError(expected: RecordedError, got: GotError): Difference {
  const want = hiveCodeOf(expected);
  if (want === undefined) {
    if (got.message.trim() === '') return 'the error does not say why';
    // A programming mistake is not the refusal that Hive gave.
    if (/^(internal error|Cannot read propert|.* is not a function)/.test(got.message))
      return 'fails for a reason of its own';
    return undefined;
  }
  const have = got.hiveCode ?? Number(/\[Error (\d+)\]/.exec(got.message)?.[1] ?? Number.NaN);
  return have === want ? undefined : `[Error ${want}] expected, got ${Number.isNaN(have) ? 'none' : `[Error ${have}]`}`;
}
