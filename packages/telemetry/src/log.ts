import { pino } from 'pino';

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

export function createLogger(options: LogOptions): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const log = pino(
    {
      level: options.level ?? 'info',
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(options.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return wrap(log.child(plain(options.fields ?? {})));
}

/** For whoever wants none. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLogger,
};

function wrap(log: Pick<pino.Logger, LogLevel | 'child' | 'isLevelEnabled'>): Logger {
  const at = (level: LogLevel) => (fields: LogFields, message: string) => {
    if (log.isLevelEnabled(level)) log[level](plain(fields), message);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => wrap(log.child(plain(fields))),
  };
}

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
  if (!(value instanceof Error)) return value;
  const { code, kind } = value as { code?: unknown; kind?: unknown };
  // The stack of what was foreseen says nothing; that of a bug does.
  const stack = kind === undefined || kind === 'bug' ? value.stack : undefined;
  const cause = value.cause instanceof Error ? plainValue(value.cause) : undefined;
  return plain({ message: value.message, code, kind, cause, stack });
}
