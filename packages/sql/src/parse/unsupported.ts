import type { UnsupportedStatement } from './ast.js';
import type { Cursor } from './cursor.js';

/** First words of Hive's statements that skep knows and does not do: security, replication, resource plans, schedules, Iceberg. */
const FORMS: readonly string[] = [
  'grant',
  'revoke',
  'set role',
  'create role',
  'drop role',
  'repl dump',
  'repl load',
  'repl status',
  'create scheduled query',
  'alter scheduled query',
  'drop scheduled query',
  'create resource plan',
  'alter resource plan',
  'drop resource plan',
  'create pool',
  'alter pool',
  'drop pool',
  'create trigger',
  'alter trigger',
  'drop trigger',
  'create user mapping',
  'alter user mapping',
  'drop user mapping',
  'create application mapping',
  'create group mapping',
  'enable workload management',
  'disable workload management',
  'create dataconnector',
  'alter dataconnector',
  'drop dataconnector',
  'describe dataconnector',
  'create index',
  'alter index',
  'drop index',
  'drop temporary macro',
  'prepare',
  'execute',
  'optimize table',
  'create branch',
  'create tag',
];
const BY_WORDS = FORMS.map((form) => form.split(' '));

/** Such a statement, whose further words are not looked at; undefined for all others. */
export function acceptUnsupported(cursor: Cursor): UnsupportedStatement | undefined {
  const form = BY_WORDS.find((words) => cursor.at(...words));
  if (form === undefined) return undefined;
  const start = cursor.index;
  while (!cursor.ended) cursor.index++;
  return { kind: 'unsupported', name: form.join(' '), position: cursor.position(start) };
}
