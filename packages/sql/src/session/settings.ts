import type { ResetStatement, SetStatement } from '../parse/ast.js';
import type { SessionContext } from './context.js';
import type { StatementResult } from './result.js';
import { done, textResult } from './text-result.js';

/** SET, SET -v, SET k, SET k=v as Hive's SetProcessor. A note about a parameter comes as a message. */
export function setStatement(context: SessionContext, statement: SetStatement): StatementResult {
  const { conf } = context;
  if (statement.key === undefined) {
    const lines = conf.entries({ defaults: statement.verbose }).map(([key, value]) => [`${key}=${value}`]);
    return textResult(['set'], lines);
  }
  const key = statement.key.replace(/^(hiveconf|metaconf):/, '');
  if (statement.value !== undefined) return { messages: conf.set(key, statement.value) };
  const value = conf.get(key);
  return textResult(['set'], [[value === undefined ? `${statement.key} is undefined` : `${statement.key}=${value}`]]);
}

/** RESET [-d] [key …]. */
export function resetStatement(context: SessionContext, statement: ResetStatement): StatementResult {
  context.conf.reset(statement.keys);
  return done;
}
