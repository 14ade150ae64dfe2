import { allParameters, Configuration, isReadAtStart, type Parameter, parseTimeMs } from '@skep/config';
import { expect, it } from 'vitest';
import {
  compactorConf,
  deltaCountOptions,
  historyRetention,
  isLeader,
  retryableMessages,
  serverParameters,
  takeServerParameters,
  txnConf,
  workerPools,
} from './service-conf.js';

it("a client takes the metastore's values, and says which of its own have no effect", () => {
  const server = new Configuration();
  server.set('hive.txn.timeout', '77s');
  server.set('hive.compactor.run.as.user', 'hive');
  const client = new Configuration();
  client.set('hive.txn.timeout', '5s');
  const notes = takeServerParameters(client, { ...serverParameters(server), 'hive.of.a.later.version': '1' });
  expect(notes).toEqual(['hive.txn.timeout belongs to the metastore: it is 77s there, not 5s']);
  expect(txnConf(client).txnTimeoutMs).toBe(77_000);
  expect(compactorConf(client).runAsUser).toBe('hive');
  expect(client.isSet('hive.of.a.later.version')).toBe(false);
});

it('hive.txn.retryable.sqlex.regex has patterns of whole messages, separated by commas', () => {
  const conf = new Configuration();
  expect(retryableMessages(conf)).toEqual([]);
  conf.set('metastore.txn.retryable.sqlex.regex', 'a, b.*,Node \\d+ is away \\(.*\\)');
  const [first, second, ...rest] = retryableMessages(conf);
  expect(rest).toEqual([]);
  expect([first.test('a, bcd'), first.test('xa, b'), first.test('a')]).toEqual([true, false, false]);
  expect(second.test('Node 12 is away (SQLState=HY000, ErrorCode=7)')).toBe(true);
  conf.set('hive.txn.retryable.sqlex.regex', '(');
  expect(() => retryableMessages(conf)).toThrow(/hive.txn.retryable.sqlex.regex expects a regular expression/);
});

it('metastore.housekeeping.leader.hostname: that host alone keeps house, unless the lease decides', () => {
  const conf = new Configuration();
  expect(isLeader(conf, 'a')).toBe(true);
  conf.set('metastore.housekeeping.leader.hostname', 'B');
  expect([isLeader(conf, 'a'), isLeader(conf, 'b')]).toEqual([false, true]);
  conf.set('metastore.housekeeping.leader.election', 'lock');
  expect(isLeader(conf, 'a')).toBe(true);
});

it('pools are named by their threads', () => {
  const conf = new Configuration();
  conf.set('hive.compactor.worker.big.threads', '3');
  expect(workerPools(conf)).toEqual({ big: 3 });
});

/** The names that are asked for. */
function readBy(takes: readonly ((conf: Configuration) => unknown)[]): Set<string> {
  const read = new Set<string>();
  const conf = new Configuration();
  const spy = new Proxy(conf, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (typeof args[0] === 'string') read.add(args[0]);
        return (value as (...all: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  for (const take of takes) take(spy);
  return read;
}

const TAKES = [txnConf, compactorConf, historyRetention, deltaCountOptions];

/** Another value than the default, that the parameter can have. */
function otherThan({ type, default: value, unit }: Parameter): string {
  switch (type) {
    case 'boolean':
      return String(value !== 'true');
    case 'int':
    case 'long':
      return String(Number(value) + 1);
    case 'float':
      return String(Number(value) + 0.5);
    case 'time':
      return `${(parseTimeMs(value, unit) ?? 0) + 1000}ms`;
    case 'string':
      return 'somebody';
  }
}

it.each(allParameters().filter(({ name }) => readBy(TAKES).has(name)))(
  '$name changes what the services are made with',
  (parameter) => {
    const made = (more: Readonly<Record<string, string>>) => {
      const conf = new Configuration();
      // The time counts only where this is on.
      if (parameter.name.includes('cleaner.retention')) conf.set('hive.compactor.delayed.cleanup.enabled', 'true');
      for (const [name, value] of Object.entries(more)) conf.set(name, value);
      return TAKES.map((take) => take(conf));
    };
    expect(made({ [parameter.name]: otherThan(parameter) })).not.toEqual(made({}));
  },
);

it('what the services read when they start is known to belong to them', () => {
  const read = readBy(TAKES);
  expect(read.size).toBeGreaterThan(30);
  // A statement heeds its session's value, a Worker that of its process.
  read.delete('hive.txn.write.acid.version.file');
  expect([...read].filter((name) => !isReadAtStart(name))).toEqual([]);
});
