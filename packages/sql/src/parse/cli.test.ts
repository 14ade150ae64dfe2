import { describe, expect, it } from 'vitest';
import { parseStatement } from './index.js';

describe('commands of the CLI', () => {
  it.each<[string, object]>([
    ['set', { kind: 'set', verbose: false }],
    ['SET -v', { kind: 'set', verbose: true }],
    ['set hive.x', { kind: 'set', verbose: false, key: 'hive.x' }],
    ['set hive.x=', { kind: 'set', key: 'hive.x', value: '' }],
    ['set hive.x = a=b  c ', { kind: 'set', key: 'hive.x', value: 'a=b  c' }],
    ['set hivevar:q="a -- b"', { key: 'hivevar:q', value: '"a -- b"' }],
    ['set a = b --why', { key: 'a', value: 'b' }],
    ['set a = x--y', { key: 'a', value: 'x--y' }],
    ['-- why\nset a = b', { kind: 'set', key: 'a', value: 'b' }],
    ['set role=x', { kind: 'set', key: 'role', value: 'x' }],
    ['reset', { kind: 'reset', toDefault: false, keys: [] }],
    ['reset -d a b', { kind: 'reset', toDefault: true, keys: ['a', 'b'] }],
    ["dfs -ls '/a b' /c", { kind: 'dfs', arguments: ['-ls', '/a b', '/c'] }],
    ['!sh -c "ls"', { kind: 'shell', command: 'sh -c "ls"' }],
    ['add jars /a.jar /b.jar', { kind: 'resource', action: 'add', type: 'jar', paths: ['/a.jar', '/b.jar'] }],
    ['ADD FILE /a', { action: 'add', type: 'file' }],
    ['list jars', { action: 'list', type: 'jar', paths: [] }],
    ['delete jar /a.jar', { action: 'delete', type: 'jar' }],
    ["source '/a b.sql'", { kind: 'source', path: '/a b.sql' }],
    ['quit', { kind: 'quit' }],
    ['EXIT', { kind: 'quit' }],
  ])('%j', (text, command) => {
    expect(parseStatement(text)).toMatchObject(command);
  });

  it('tell SET of everything, of a name and of a name made empty apart', () => {
    const keys = (text: string): string[] => Object.keys(parseStatement(text));
    expect(keys('set')).not.toContain('key');
    expect(keys('set x')).not.toContain('value');
    expect(keys('set x=')).toContain('value');
  });

  it.each([
    ['delete from jar', 'delete'],
    ['set autocommit true', 'set-autocommit'],
    ['reload functions', 'reload-functions'],
  ])('leaves %j to HiveQL', (text, kind) => {
    expect(parseStatement(text).kind).toBe(kind);
  });
});
