import { SkepError } from '@skep/core';

/** The command line itself was wrong: no stack trace helps. */
export class UsageError extends SkepError {
  constructor(message: string) {
    super('USAGE', 'invalid', message);
  }
}

interface Placed {
  readonly position?: { readonly line?: number; readonly column?: number; readonly charPositionInLine?: number };
}

/** Hive's own word for the kind of failure (org.apache.hadoop.hive.ql.ErrorMsg, Driver). */
function kindOf(error: SkepError): string {
  if (error.name === 'SemanticError' || error.name === 'QueryError') return 'SemanticException ';
  return '';
}

const NO_CODE = 40000;

/** Where in the statement, for errors that know it and do not say it themselves. */
function placeOf(error: SkepError): string {
  const { position } = error as Placed;
  if (position?.line === undefined || /\bline \d+:\d+/i.test(error.message)) return '';
  return `Line ${position.line}:${position.column ?? position.charPositionInLine ?? 0} `;
}

/**
 * One line for an error, as Hive's clients show it: `FAILED: SemanticException [Error 10001]: Line 1:14 Table not found … (state
 * 42S02)`. `origin` names the place of the statement in a script.
 */
export function errorLine(error: unknown, origin = ''): string {
  const where = origin === '' ? '' : ` (${origin})`;
  if (error instanceof UsageError) return `skep: ${error.message}`;
  if (!(error instanceof SkepError))
    return `FAILED: ${oneLine(error instanceof Error ? error.message : String(error))}${where}`;
  const hasCode = error.hiveCode !== undefined && error.hiveCode !== NO_CODE && !/\[Error \d+\]/.test(error.message);
  const code = hasCode ? `[Error ${error.hiveCode}]: ` : '';
  const state = error.sqlState === undefined ? '' : ` (state ${error.sqlState})`;
  return `FAILED: ${kindOf(error)}${code}${placeOf(error)}${oneLine(error.message)}${state}${where}`;
}

const oneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, ' ');

/** With --verbose: the stack, and those of the causes. */
export function errorStack(error: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = error; at instanceof Error && parts.length < 10; at = at.cause) {
    parts.push(`${parts.length === 0 ? '' : 'caused by '}${at.stack ?? at.message}`);
  }
  return parts.join('\n');
}
