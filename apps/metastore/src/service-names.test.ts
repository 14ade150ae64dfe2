import { describe, expect, it } from 'vitest';
import { parseAddresses, parseMetastore, parseServices, SERVICE_NAMES } from './service-names.js';

describe('names of services', () => {
  it('are all, or some', () => {
    expect(parseServices('all')).toEqual(SERVICE_NAMES);
    expect(parseServices('locks, transactions,locks')).toEqual(['locks', 'transactions']);
  });

  it.each(['', 'lock', 'all,locks', 'catalog;locks'])('refuses %o', (text) => {
    expect(() => parseServices(text)).toThrow(/--services/);
  });
});

describe('addresses of services', () => {
  it('are one for all, several for all, or one for each', () => {
    expect(parseMetastore('a:1', '-').locks).toEqual(['a:1']);
    expect(parseMetastore('a:1,skep://b:2', '-').catalog).toEqual(['a:1', 'b:2']);
    const each = parseMetastore('catalog=a:1,transactions=a:2,locks=[::1]:3,compaction=a:4,locks=b:3', '-');
    expect(each.locks).toEqual(['[::1]:3', 'b:3']);
    expect(each.compaction).toEqual(['a:4']);
    expect(parseAddresses('locks=a:1', '-')).toEqual({ locks: ['a:1'] });
  });

  it.each(['a', 'a:', ':1', 'a:99999', 'lock=a:1', 'a:1:2', '::1:5'])('refuses %o', (text) => {
    expect(() => parseAddresses(text, '--peer')).toThrow(/--peer: /);
  });

  it('names what has none', () => {
    expect(() => parseMetastore('locks=a:1,catalog=a:1', '--metastore')).toThrow(
      'no address for transactions, compaction',
    );
  });
});
