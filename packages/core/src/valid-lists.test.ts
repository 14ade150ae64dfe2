import { describe, expect, it } from 'vitest';
import { LONG_MAX } from './ids.js';
import { ValidTxnList } from './valid-txn-list.js';
import { formatValidTxnWriteIdList, parseValidTxnWriteIdList, ValidWriteIdList } from './valid-write-id-list.js';

describe('ValidTxnList', () => {
  it('writes runs of five or more as ranges', () => {
    const list = ValidTxnList.of(20n, { open: [2n, 3n, 4n, 5n, 6n, 9n, 10n, 11n, 12n], aborted: [7n, 8n] });
    expect(String(list)).toBe('20:2:2-6,9,10,11,12:7,8');
    expect(String(ValidTxnList.parse(String(list)))).toBe(String(list));
    expect(list.isTxnAborted(7n)).toBe(true);
    expect(list.isTxnAborted(6n)).toBe(false);
    expect(list.isTxnValid(1n)).toBe(true);
    expect(list.isTxnValid(4n)).toBe(false);
    expect(list.isTxnValid(21n)).toBe(false);
  });

  it('has the empty forms', () => {
    expect(String(ValidTxnList.of(7n))).toBe('7:9223372036854775807::');
    expect(ValidTxnList.parse('').highWatermark).toBe(LONG_MAX);
    expect(ValidTxnList.parse('7:3').minOpenTxn).toBe(3n);
    expect(() => ValidTxnList.parse('x')).toThrow(/Hive's form/);
    expect(() => ValidTxnList.parse('7:3:a')).toThrow(/Hive's form/);
  });

  it('is cut for the cleaner', () => {
    const list = ValidTxnList.of(20n, { open: [5n, 9n], aborted: [3n, 12n] });
    expect(String(ValidTxnList.forCleaner(list, 9n))).toBe('8:9223372036854775807::3');
    expect(String(ValidTxnList.forCleaner(list, 9n, true))).toBe('8:9223372036854775807:5:3');
  });
});

describe('ValidWriteIdList', () => {
  const list = ValidWriteIdList.parse('db.t:10:4:4,6:5');

  it('reads and writes its string form', () => {
    expect(String(list)).toBe('db.t:10:4:4,6:5');
    expect(String(ValidWriteIdList.parse('null:3'))).toBe('null:3:9223372036854775807::');
    expect(String(ValidWriteIdList.parse('db.t:3:9223372036854775807::2'))).toBe('db.t:3:9223372036854775807::2');
    expect(() => ValidWriteIdList.parse('db.t')).toThrow();
  });

  it.each([
    [1n, 3n, 'ALL'],
    [1n, 4n, 'SOME'],
    [4n, 6n, 'NONE'],
    [5n, 7n, 'SOME'],
    [7n, 10n, 'ALL'],
    [9n, 12n, 'SOME'],
    [11n, 12n, 'NONE'],
  ])('range %s..%s is %s', (min, max, answer) => {
    expect(list.isWriteIdRangeValid(min, max)).toBe(answer);
  });

  it('answers ALL below the first exception even above the high watermark, as Hive does', () => {
    expect(ValidWriteIdList.parse('t:3:9:9:').isWriteIdRangeValid(2n, 5n)).toBe('ALL');
  });

  it('knows aborted ranges and bases', () => {
    expect(list.isWriteIdRangeAborted(5n, 5n)).toBe('ALL');
    expect(list.isWriteIdRangeAborted(4n, 6n)).toBe('SOME');
    expect(list.isWriteIdRangeAborted(6n, 7n)).toBe('NONE');
    expect(list.isValidBase(3n)).toBe(true);
    expect(list.isValidBase(4n)).toBe(false);
  });

  it('becomes the compactor and the cleaner list', () => {
    const compactor = ValidWriteIdList.forCompactor(ValidWriteIdList.parse('db.t:10:6:6,8:2,5,9'));
    expect(String(compactor)).toBe('db.t:5:6::2,5');
    expect(compactor.isWriteIdRangeValid(2n, 2n)).toBe('ALL');
    expect(compactor.isWriteIdValid(2n)).toBe(false);
    expect(compactor.isWriteIdRangeValid(5n, 6n)).toBe('NONE');
    const cleaner = ValidWriteIdList.forCleaner(list, 7n);
    expect(cleaner.isWriteIdRangeValid(7n, 8n)).toBe('NONE');
    expect(cleaner.isWriteIdRangeValid(7n, 7n)).toBe('ALL');
  });

  it('travels with its transaction', () => {
    const text = '17$db.t:10:4:4,6:5$db.u:1:9223372036854775807::';
    expect(formatValidTxnWriteIdList(parseValidTxnWriteIdList(text))).toBe(text);
  });
});
