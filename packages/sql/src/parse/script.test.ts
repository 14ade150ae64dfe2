import { describe, expect, it } from 'vitest';
import { splitScript, splitStatements } from './script.js';

const texts = (script: string): string[] => splitStatements(script).map((s) => s.text);

describe('splitStatements', () => {
  it.each<[string, string[]]>([
    ['select 1; select 2', ['select 1', 'select 2']],
    ['select 1;;\n;select 2;', ['select 1', 'select 2']],
    ['select \';\', ";", `;`; select 2', ['select \';\', ";", `;`', 'select 2']],
    ["select 'it\\'s; x'; select 'a\\\\'; select 2", ["select 'it\\'s; x'", "select 'a\\\\'", 'select 2']],
    ["select 'it''s; x'; select 2", ["select 'it''s; x'", 'select 2']],
    ['set a = b; --why; not\nset c = d; --', ['set a = b', 'set c = d']],
    ["select 1 -- don't; stop\n, 2; select 3", ["select 1 -- don't; stop\n, 2", 'select 3']],
    ['-- first;\n/* second; */ select 1', ['select 1']],
    ['select /*+ mapjoin(a;b) */ 1; select 2', ['select /*+ mapjoin(a;b) */ 1', 'select 2']],
    ['select 1; -- 主键\n-- 설명\n', ['select 1']],
    ['!ls /tmp\nselect 1;', ['!ls /tmp', 'select 1']],
    ['!ls /tmp;\nselect 1', ['!ls /tmp', 'select 1']],
    ['!sleep 1; select 1; !ls', ['!sleep 1', 'select 1', '!ls']],
    ['!sh -c "a; b" \\; c; select 1', ['!sh -c "a; b" \\; c', 'select 1']],
    ["!echo it's; select 1", ["!echo it's; select 1"]],
    ['select !a;', ['select !a']],
    ['quit\nselect 1;', ['quit', 'select 1']],
    ['exit;', ['exit']],
    ['\ufeffselect 1;', ['select 1']],
    ['', []],
    ['-- nothing', []],
  ])('%j', (script, statements) => {
    expect(texts(script)).toEqual(statements);
  });

  it('tells where each statement stands', () => {
    const script = '-- head\nselect 1;  select\n  2;';
    expect(splitStatements(script)).toEqual([
      { text: 'select 1', line: 2, column: 0, start: 8, end: 16 },
      { text: 'select\n  2', line: 2, column: 11, start: 19, end: 29 },
    ]);
  });
});

describe('splitScript, for a shell that reads on', () => {
  it.each<[string, string | undefined]>([
    ['select 1;', undefined],
    ['select 1; -- done', undefined],
    ['', undefined],
    ['quit', undefined],
    ['!ls', undefined],
    ['select 1', 'statement'],
    ['select 1; select', 'statement'],
    ["select 'a; b", 'string'],
    ['select "a', 'string'],
    ['select `a', 'identifier'],
    ['select 1 /* a;', 'comment'],
    ['/* a;', 'comment'],
    ['select 1 -- a;', 'statement'],
  ])('%j', (script, unfinished) => {
    expect(splitScript(script).unfinished).toBe(unfinished);
  });

  it('gives what is complete and what is not', () => {
    const { statements, rest } = splitScript('select 1;\nselect 2');
    expect(statements.map((s) => s.text)).toEqual(['select 1']);
    expect(rest).toMatchObject({ text: 'select 2', line: 2 });
  });
});
