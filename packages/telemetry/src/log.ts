/** What a line is about: `txnId`, `lockId`, `compactionId`, `table` …; bigints are written as numbers' text, errors with code and kind. */
export type LogFields = Readonly<Record<string, unknown>>;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Structured logs: one line of JSON an event, with the ids it is about as fields. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger that puts `fields` on every line. */
  with(fields: LogFields): Logger;
}

export interface LogOptions {
  /** Default info. */
  readonly level?: LogLevel;
  /** Takes each line, its end included. Default: standard error. */
  readonly write?: (line: string) => void;
  /** Fields of every line: service, host, pid. */
  readonly fields?: LogFields;
  /** Milliseconds since the epoch, from the process's Clock. */
  readonly now: () => number;
}

/** Without a library: the shell of an embedded home starts with it, and a line of JSON is all that is wanted. */
export function createLogger(options: LogOptions): Logger {
  const { level = 'info', fields = {} } = options;
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const at = (one: LogLevel) => {
    if (LOG_LEVELS.indexOf(one) < LOG_LEVELS.indexOf(level)) return () => {};
    return (own: LogFields, message: string) => {
      const time = new Date(options.now()).toISOString();
      write(`${JSON.stringify({ level: one, time, ...plain(fields), ...plain(own), message })}\n`);
    };
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (more) => createLogger({ ...options, fields: { ...fields, ...more } }),
  };
}

/** For whoever wants none. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLogger,
};

/** JSON has no bigint, and an Error's own properties are not enumerable. */
function plain(fields: LogFields): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) out[name] = plainValue(value);
  }
  return out;
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== 'object' || value === null) return value;
  if (!(value instanceof Error)) return plain(value as LogFields);
  const { code, kind } = value as { code?: unknown; kind?: unknown };
  // The stack of what was foreseen says nothing; that of a bug does.
  const stack = kind === undefined || kind === 'bug' ? value.stack : undefined;
  const cause = value.cause instanceof Error ? plainValue(value.cause) : undefined;
  return plain({ message: value.message, code, kind, cause, stack });
}
