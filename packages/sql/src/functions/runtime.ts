import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { argumentsLength, semantic, wrongArguments } from '../expressions/errors.js';
import { sqlString } from '../expressions/expr.js';
import { arrayOf, BIGINT, BOOLEAN, STRING, VOID } from '../types/hive-type.js';
import { convertArguments, customFunction, mismatch, result } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';

/** What is said of, or done to, the running statement itself: its database, user and version, its failing. */
export const runtimeFunctions: readonly ScalarFunction[] = [
  customFunction('misc', 'uuid', '', (call) => {
    convertArguments(call, []);
    return result(
      call,
      STRING,
      call.analysis.udfs.call('uuid', [], STRING, [], () => randomUUID(), { volatile: true }),
    );
  }),
  customFunction('misc', 'current_database current_schema', '', (call) => {
    none(call);
    return result(call, STRING, sqlString(call.analysis.context.currentDatabase));
  }),
  customFunction('misc', 'current_catalog', '', (call) => {
    none(call);
    return result(call, STRING, "'hive'");
  }),
  customFunction('misc', 'current_user logged_in_user', '', (call) => {
    none(call);
    return result(call, STRING, sqlString(call.analysis.context.user ?? 'anonymous'));
  }),
  customFunction('misc', 'current_groups', '', (call) => {
    none(call);
    return result(call, arrayOf(STRING), '[]::VARCHAR[]');
  }),
  customFunction('misc', 'current_authorizer', '', (call) => {
    none(call);
    return result(call, STRING, 'CAST(NULL AS VARCHAR)');
  }),
  customFunction('misc', 'version', '', (call) => {
    convertArguments(call, []);
    return result(call, STRING, sqlString('4.0.1 (skep)'));
  }),
  customFunction('misc', 'buildversion', '', (call) => {
    convertArguments(call, []);
    return result(call, STRING, sqlString('4.0.1 (skep)'));
  }),
  customFunction('misc', 'assert_true assert_true_oom', 'boolean', (call) => {
    const [condition] = convertArguments(call, ['boolean']);
    const sql = call.analysis.udfs.call(
      'assert_true',
      [BOOLEAN],
      BOOLEAN,
      [condition.sql],
      (x) => {
        if (x !== true) throw semantic('ASSERT_TRUE(): assertion failed.');
        return null;
      },
      { onNull: true },
    );
    // Of type void, and always NULL.
    return result(call, VOID, sql);
  }),
  customFunction('misc', 'enforce_constraint', 'boolean', (call) => {
    const [condition] = convertArguments(call, ['any']);
    if (condition.type.kind !== 'boolean') throw mismatch(call, condition, 'a boolean');
    const check = (x: unknown) => {
      if (x === false) throw semantic('Either CHECK or NOT NULL constraint violated!');
      return true;
    };
    return result(
      call,
      BOOLEAN,
      call.analysis.udfs.call('enforce_constraint', [BOOLEAN], BOOLEAN, [condition.sql], check, { onNull: true }),
    );
  }),
  customFunction('misc', 'sq_count_check', 'count', (call) => {
    const [count] = convertArguments(call, ['bigint']);
    const check = (n: unknown) => {
      if ((n as bigint) > 1n) throw semantic('Scalar subquery expression returns more than one row.');
      return n as bigint;
    };
    return result(call, BIGINT, call.analysis.udfs.call('sq_count_check', [BIGINT], BIGINT, [count.sql], check));
  }),
  customFunction('misc', 'in_file', 'string, path', (call) => {
    const [text, path] = convertArguments(call, ['string', 'string']);
    if (typeof path.literal !== 'string') throw mismatch(call, path, 'a constant path');
    const lines = fileLines(path.literal, call);
    const sql = call.analysis.udfs.call(`in_file_${path.literal}`, [STRING], BOOLEAN, [text.sql], (s) =>
      lines.has(s as string),
    );
    return result(call, BOOLEAN, sql);
  }),
];

function none(call: Call): void {
  if (call.args.length === 0) return;
  throw argumentsLength(
    call.analysis.text(call.args[0].position),
    `The function ${call.name.toUpperCase()} does not take any arguments, but found ${call.args.length}`,
    call.position,
  );
}

/** Read once, when the statement is analysed. */
function fileLines(path: string, call: Call): ReadonlySet<string> {
  try {
    return new Set(readFileSync(path, 'utf8').split(/\r?\n/));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw wrongArguments(call.analysis.text(call.position), `${path} cannot be read: ${error.message}`, call.position);
  }
}
