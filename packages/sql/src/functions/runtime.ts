import { randomUUID } from 'node:crypto';
import { semantic } from '../analyze/errors.js';
import { sqlString } from '../analyze/expr.js';
import { BOOLEAN, STRING } from '../types/hive-type.js';
import { convertArguments, customFunction, result } from './builder.js';
import type { ScalarFunction } from './definition.js';

/** What is said of, or done to, the running statement itself: its database, user and version, its failing. */
export const runtimeFunctions: readonly ScalarFunction[] = [
  customFunction('misc', 'uuid', '', (call) =>
    result(
      call,
      STRING,
      call.analysis.udfs.call('uuid', [], STRING, [], () => randomUUID(), { volatile: true }),
    ),
  ),
  customFunction('misc', 'current_database', '', (call) =>
    result(call, STRING, sqlString(call.analysis.context.currentDatabase)),
  ),
  customFunction('misc', 'current_user logged_in_user', '', (call) =>
    result(call, STRING, sqlString(call.analysis.context.user ?? 'anonymous')),
  ),
  customFunction('misc', 'version', '', (call) => result(call, STRING, sqlString('4.0.1 (skep)'))),
  customFunction('misc', 'assert_true', 'boolean', (call) => {
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
    return result(call, BOOLEAN, sql);
  }),
];
