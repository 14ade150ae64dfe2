import { describe, expect, it } from 'vitest';
import { isLoopback, parseAddress, peerIp } from './address.js';
import { proxyCheck } from './proxy-users.js';
import { groupsFromSystem } from './user-groups.js';

type Case = [string, Record<string, string>, string, boolean];

const every = { 'hadoop.proxyuser.gate.hosts': '*' };
const all = { 'hadoop.proxyuser.gate.users': '*' };
const hosts = (list: string) => ({ ...all, 'hadoop.proxyuser.gate.hosts': list });

/** May gate, at 10.1.2.3, act for bob? (Cases of Hadoop's TestProxyUsers.) */
const CASES: Case[] = [
  ['nothing set', {}, '10.1.2.3', false],
  ['hosts only', every, '10.1.2.3', false],
  ['users only', all, '10.1.2.3', false],
  ['everything', { ...every, ...all }, '10.1.2.3', true],
  ['another user', { ...every, 'hadoop.proxyuser.gate.users': 'alice' }, '10.1.2.3', false],
  ['this user among others', { ...every, 'hadoop.proxyuser.gate.users': 'alice, bob' }, '10.1.2.3', true],
  ['all groups', { ...every, 'hadoop.proxyuser.gate.groups': '*' }, '10.1.2.3', true],
  [
    'a group of his',
    {
      ...every,
      'hadoop.proxyuser.gate.groups': 'staff,etl',
      'hadoop.user.group.static.mapping.overrides': 'alice=x;bob=users,etl',
    },
    '10.1.2.3',
    true,
  ],
  [
    'groups that are not his',
    {
      ...every,
      'hadoop.proxyuser.gate.groups': 'staff',
      'hadoop.user.group.static.mapping.overrides': 'alice=staff;bob=',
    },
    '10.1.2.3',
    false,
  ],
  ['rules of another', { 'hadoop.proxyuser.other.hosts': '*', 'hadoop.proxyuser.other.users': '*' }, '10.1.2.3', false],
  ['an address', hosts('10.1.2.3'), '10.1.2.3', true],
  ['a network', hosts('192.168.0.1, 10.1.0.0/16'), '10.1.2.3', true],
  ['another network', hosts('10.2.0.0/16'), '10.1.2.3', false],
  ['an IPv6 network', hosts('fd00::/8'), 'fd00::1', true],
  ['a name', hosts('localhost'), '127.0.0.1', true],
  ['a name of another', hosts('localhost'), '10.1.2.3', false],
  ['a name that nobody has', hosts('no-such-host.invalid'), '10.1.2.3', false],
];

describe('proxy users', () => {
  it.each(CASES)('with %s', async (_, properties, ip, isAllowed) => {
    const check = proxyCheck(properties)('gate', 'bob', ip);
    if (isAllowed) await check;
    else await expect(check).rejects.toMatchObject({ code: 'ACCESS_DENIED', caller: 'gate', user: 'bob' });
  });

  it.each(['10.0.0.0/33', 'host/8', '10.0.0.0/8/8', '10.0.0.0/x'])('refuse the network %s', (network) => {
    expect(() => proxyCheck(hosts(network))).toThrow(`hadoop.proxyuser.gate.hosts: '${network}' is no address`);
  });

  it('refuse a group mapping that is none', () => {
    const properties = { 'hadoop.user.group.static.mapping.overrides': 'bob' };
    expect(() => proxyCheck(properties)).toThrow("'bob' is not USER=GROUP,GROUP");
  });

  it('know the groups of this machine', async () => {
    expect(await groupsFromSystem('root')).toContain('root');
    expect(await groupsFromSystem('nobody-of-that-name')).toEqual([]);
  });
});

describe('addresses', () => {
  it('are read', () => {
    expect(parseAddress('[::1]:80')).toEqual({ host: '::1', port: 80 });
    expect(parseAddress('a-b.c:9083')).toEqual({ host: 'a-b.c', port: 9083 });
    for (const bad of ['a', 'a:', ':1', '::1:80', 'a:70000']) expect(() => parseAddress(bad)).toThrow('is no address');
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['127.example.org', false],
    ['10.0.0.1', false],
  ])('%s on this machine only: %s', (host, expected) => expect(isLoopback(host)).toBe(expected));

  it('of peers lose their port', () => {
    expect(peerIp('[::ffff:10.0.0.1]:5')).toBe('10.0.0.1');
    expect(peerIp('::1:5')).toBe('::1');
    expect(peerIp('10.0.0.1:5')).toBe('10.0.0.1');
  });
});
