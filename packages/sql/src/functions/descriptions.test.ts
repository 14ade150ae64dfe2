import { expect, test } from 'vitest';
import { describeFunction } from './describe-function.js';
import { descriptions } from './descriptions.js';
import { missingReason } from './missing.js';
import { allFunctions, functionNames } from './registry.js';

test('every function is described, and nothing else is', () => {
  const names = allFunctions().map((fn) => fn.names[0]);
  expect(names.filter((name) => descriptions[name] === undefined)).toEqual([]);
  expect(Object.keys(descriptions).filter((name) => !names.includes(name))).toEqual([]);
});

test('no name belongs to two functions, and what is refused is not there', () => {
  const all = allFunctions().flatMap((fn) => fn.names);
  expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
  expect(functionNames().filter((name) => missingReason(name) !== undefined)).toEqual([]);
});

test('DESCRIBE FUNCTION', () => {
  expect(describeFunction('ceiling', true)).toEqual([
    'ceiling(number) - the smallest whole number not below',
    'Synonyms: ceil',
    'Function type:BUILTIN',
  ]);
  expect(describeFunction('nosuch', false)).toEqual(["Function 'nosuch' does not exist."]);
});
