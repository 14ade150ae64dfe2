import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { AccessDeniedError, InvalidRequestError } from './errors.js';
import { groupsFromSystem, parseStaticGroups } from './user-groups.js';

/** Throws AccessDeniedError unless `caller`, at that IP address, may act for `user`. */
export type ProxyCheck = (caller: string, user: string, ip: string) => Promise<void>;

interface Rule {
  readonly hosts?: string;
  readonly users?: string;
  readonly groups?: string;
}

const GROUP_MAPPING = 'hadoop.user.group.static.mapping.overrides';

/**
 * Hadoop's proxy-user rules (org.apache.hadoop.security.authorize.DefaultImpersonationProvider): the caller's address must be
 * among its `hosts`, and the user among its `users` or a member of one of its `groups`. What is not set allows nobody.
 */
export function proxyCheck(properties: Readonly<Record<string, string>>): ProxyCheck {
  const rules = parseRules(properties);
  const staticGroups = parseStaticGroups(properties[GROUP_MAPPING] ?? '');
  return async (caller, user, ip) => {
    const deny = (why: string) =>
      new AccessDeniedError(caller, user, `User: ${caller} is not allowed to impersonate ${user}: ${why}`);
    const rule = rules.get(caller);
    if (rule === undefined) throw deny(`no hadoop.proxyuser.${caller}.… is set`);
    const byName = includes(rule.users, [user]);
    if (!byName && !(rule.groups === '*')) {
      const groups = rule.groups === undefined ? [] : (staticGroups.get(user) ?? (await groupsFromSystem(user)));
      if (!includes(rule.groups, groups)) {
        throw deny(`hadoop.proxyuser.${caller}.users and .groups do not include ${user}`);
      }
    }
    if (!(await isHostAllowed(rule.hosts, ip))) {
      throw deny(`hadoop.proxyuser.${caller}.hosts does not include ${ip}`);
    }
  };
}

function parseRules(properties: Readonly<Record<string, string>>): Map<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const [name, value] of Object.entries(properties)) {
    const match = /^hadoop\.proxyuser\.(.+)\.(hosts|users|groups)$/.exec(name);
    if (match === null) continue;
    if (match[2] === 'hosts') validateHosts(name, value);
    rules.set(match[1], { ...rules.get(match[1]), [match[2]]: value.trim() });
  }
  return rules;
}

const listed = (text: string | undefined): string[] => (text ?? '').split(/[\s,]+/).filter((item) => item !== '');

function includes(list: string | undefined, names: readonly string[]): boolean {
  const allowed = listed(list);
  return allowed.includes('*') || names.some((name) => allowed.includes(name));
}

function validateHosts(name: string, value: string): void {
  for (const host of listed(value)) {
    const [address, bits, more] = host.split('/');
    if (bits === undefined) continue;
    const most = isIP(address) === 4 ? 32 : 128;
    if (isIP(address) === 0 || more !== undefined || !/^\d+$/.test(bits) || Number(bits) > most) {
      throw new InvalidRequestError(`${name}: '${host}' is no address, network (10.0.0.0/8) or host name`);
    }
  }
}

/** MachineList of Hadoop: addresses, networks, host names. */
async function isHostAllowed(hosts: string | undefined, ip: string): Promise<boolean> {
  const entries = listed(hosts);
  if (entries.includes('*')) return true;
  const family = isIP(ip) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(ip) === 0) return false;
  const addresses = new BlockList();
  const names: string[] = [];
  for (const entry of entries) {
    const [address, bits] = entry.split('/');
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) names.push(address);
    else if (bits === undefined) addresses.addAddress(address, type);
    else addresses.addSubnet(address, Number(bits), type);
  }
  if (addresses.check(ip, family)) return true;
  for (const name of names) {
    // A name that cannot be resolved is nobody's address.
    const found = await lookup(name, { all: true }).catch(() => []);
    if (found.some(({ address }) => address === ip)) return true;
  }
  return false;
}
