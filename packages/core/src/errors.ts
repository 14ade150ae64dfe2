/**
 * What a caller can do about an error:
 * `invalid` fix the call, `conflict` redo the transaction, `unavailable` try later, `corrupt` repair the data, `bug` report it.
 */
export type ErrorKind = 'invalid' | 'conflict' | 'unavailable' | 'corrupt' | 'bug';

/** Base of every error skep throws: a stable `code`, a `kind` that says what to do, and Hive's number and SQLSTATE where Hive has one. */
export class SkepError extends Error {
  readonly code: string;
  readonly kind: ErrorKind;
  /** Hive's `[Error N]` (org.apache.hadoop.hive.ql.ErrorMsg), where Hive has one. */
  readonly hiveCode?: number;
  readonly sqlState?: string;

  constructor(
    code: string,
    kind: ErrorKind,
    message: string,
    options: { cause?: unknown; hiveCode?: number; sqlState?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.kind = kind;
    if (options.hiveCode !== undefined) this.hiveCode = options.hiveCode;
    if (options.sqlState !== undefined) this.sqlState = options.sqlState;
  }
}

/** A file whose bytes are not what its format says. Names the file and the offset. */
export class CorruptFileError extends SkepError {
  readonly path: string;
  readonly offset: number | undefined;

  constructor(path: string, offset: number | undefined, what: string, options: { cause?: unknown } = {}) {
    super('CORRUPT_FILE', 'corrupt', `${path}${offset === undefined ? '' : ` at byte ${offset}`}: ${what}`, options);
    this.path = path;
    this.offset = offset;
  }
}

/** An invariant of skep itself is broken: a defect to report, never the caller's fault. */
export class BugError extends SkepError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('BUG', 'bug', `internal error: ${message}`, options);
  }
}

/** For the `default` of an exhaustive switch. */
export function unreachable(value: never, what: string): never {
  throw new BugError(`unexpected ${what}: ${String(value)}`);
}
