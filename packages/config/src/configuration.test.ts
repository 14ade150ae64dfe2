import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allParameters, findParameter, otherNames } from './catalogue.js';
import { Configuration } from './configuration.js';
import { configurationMarkdown } from './documentation.js';
import { SERVER_PARAMETERS } from './server-parameters.js';
import { readSiteFile } from './site-file.js';
import { checkValue } from './value.js';

const shared = process.env.SKEP_SHARED ?? resolve(import.meta.dirname, '../../../../shared');
const list = join(shared, 'reference/parameters.txt');

describe('the table of parameters', () => {
  it('has defaults that its own checks accept, and no name twice', () => {
    const names = new Set<string>();
    for (const parameter of allParameters()) {
      if (parameter.default !== '') checkValue(parameter, parameter.name, parameter.default);
      for (const name of [parameter.name, ...otherNames(parameter), ...(parameter.deprecated ?? [])]) {
        expect(names.has(name), name).toBe(false);
        names.add(name);
      }
      if (parameter.effect === 'none' || parameter.effect === 'fixed')
        expect(parameter.why, parameter.name).toBeTruthy();
    }
  });

  it.skipIf(!existsSync(list))('knows every name that users write', () => {
    const names = readFileSync(list, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(names.length).toBeGreaterThan(70);
    expect(names.filter((name) => findParameter(name) === undefined)).toEqual([]);
  });

  it('is documented in full', () => {
    const text = configurationMarkdown();
    for (const parameter of allParameters()) expect(text).toContain(`\`${parameter.name}\``);
  });
});

describe('Configuration', () => {
  it('answers under every name of a parameter', () => {
    const conf = new Configuration();
    expect(conf.set('metastore.txn.timeout', '5min')).toEqual([]);
    expect(conf.get('hive.txn.timeout')).toBe('5min');
    expect(conf.getTimeMs('hive.txn.timeout')).toBe(300_000);
    expect(conf.setText('hive.txn.timeout')).toBe('hive.txn.timeout=5min');
    expect(conf.setText('no.such.name')).toBe('no.such.name is undefined');
    expect(conf.set('hive.lock.numretires', '7')).toEqual([expect.stringContaining('hive.lock.numretries')]);
    expect(conf.getInt('hive.lock.numretries')).toBe(7);
  });

  it.each([
    ['300s', 300_000],
    ['5 min', 300_000],
    ['7', 7_000],
    ['250ms', 250],
    ['2h', 7_200_000],
    ['1 day', 86_400_000],
    ['1500us', 1.5],
  ])('reads the time %s', (text, ms) => {
    const conf = new Configuration();
    conf.set('hive.txn.timeout', text);
    expect(conf.getTimeMs('hive.txn.timeout')).toBe(ms);
  });

  it.each([
    ['hive.txn.timeout', 'soon'],
    ['hive.txn.timeout', '5 parsecs'],
    ['hive.txn.xlock.write', 'yes'],
    ['hive.lock.numretries', '1.5'],
    ['hive.txn.retrysnapshot.max.count', '21'],
    ['hive.exec.dynamic.partition.mode', 'lax'],
    ['hive.compactor.delta.pct.threshold', 'x'],
  ])('refuses %s=%s, naming key, value and what is expected', (key, value) => {
    const conf = new Configuration();
    const before = conf.get(key);
    expect(() => conf.set(key, value)).toThrowError(
      expect.objectContaining({ code: 'INVALID_CONFIG', key, value, message: expect.stringContaining('expects') }),
    );
    expect(conf.get(key)).toBe(before);
  });

  it('says so where a parameter has no effect', () => {
    const conf = new Configuration();
    expect(conf.set('hive.compactor.job.queue', 'q')[0]).toContain('no effect');
    expect(conf.set('hive.support.concurrency', 'true')).toEqual([]);
    expect(conf.set('hive.support.concurrency', 'FALSE')).toEqual([]);
    expect(conf.set('hive.txn.use.minhistorylevel', 'FALSE')[0]).toContain('stays true');
    expect(conf.set('hive.nobody.knows', '1')[0]).toContain('not a parameter');
    expect(conf.get('hive.nobody.knows')).toBe('1');
    expect(conf.set('mapred.reduce.tasks', '4')).toEqual([]);
    expect(conf.set('age', '4')).toEqual([]);
    expect(conf.set('transactional', 'true')[0]).toContain('TBLPROPERTIES');
  });

  it('tells a session what belongs to the metastore, and warns of nothing that is so already', () => {
    const served = new Configuration();
    expect(served.set('hive.compactor.check.interval', '60s')).toEqual([]);
    const session = served.fork();
    expect(session.set('hive.compactor.check.interval', '1min')).toEqual([]);
    session.set('hive.compactor.check.interval', '1h');
    expect(session.getServedTimeMs('hive.compactor.check.interval')).toBe(60_000);
    expect(served.getServedTimeMs('hive.compactor.check.interval')).toBe(60_000);
    session.reset();
    expect(session.set('hive.compactor.check.interval', '60s')).toEqual([]);
    expect(session.set('hive.compactor.check.interval', '5s')).toEqual([
      expect.stringMatching(/^hive.compactor.check.interval belongs to the metastore and is 60s there: /),
    ]);
    expect(session.set('metastore.txn.timeout', '5s')[0]).toContain('belongs to the metastore and is 300s there');
    expect(session.set('hive.compactor.worker.big.threads', '5')).toEqual([
      expect.stringMatching(/^hive.compactor.worker.big.threads belongs to the metastore and is 0 there: /),
    ]);
    expect(() => session.set('hive.compactor.worker.big.threads', 'many')).toThrow(/INT type value/);
    expect(served.set('metastore.compactor.worker.big.threads', '5')).toEqual([]);
    expect(served.entries()).toContainEqual(['hive.compactor.worker.big.threads', '5']);
    expect(session.set('hive.compactor.wait.timeout', '5s')).toEqual([]);
    for (const name of SERVER_PARAMETERS) expect(findParameter(name)?.parameter.effect, name).toBe('yes');
  });

  it('forks into layers that reset alone', () => {
    const site = new Configuration();
    site.set('hive.txn.timeout', '10s');
    const session = site.fork();
    session.set('hive.txn.timeout', '20s');
    session.set('hive.lock.numretries', '3');
    expect(site.getTimeMs('hive.txn.timeout')).toBe(10_000);
    session.reset(['hive.lock.numretries']);
    expect(session.getInt('hive.lock.numretries')).toBe(100);
    expect(session.entries()).toEqual([['hive.txn.timeout', '20s']]);
    session.reset();
    expect(session.getTimeMs('hive.txn.timeout')).toBe(10_000);
    expect(session.entries({ defaults: true }).length).toBeGreaterThan(150);
  });

  it('loads the site file and the environment, and keeps to final', () => {
    const xml = `<?xml version="1.0"?><!-- a <property> in a comment -->
      <configuration>
        <property><name> hive.txn.timeout </name><value>10s</value><final>true</final></property>
        <property><name>a.b</name><value><![CDATA[x < y]]> &amp; z</value><description/></property>
        <property><name>empty</name><value/></property>
        <property><name>none</name></property>
      </configuration>`;
    const site = readSiteFile(xml);
    expect(site).toEqual([
      { name: 'hive.txn.timeout', value: '10s', isFinal: true, file: 'hive-site.xml' },
      { name: 'a.b', value: 'x < y & z', isFinal: false, file: 'hive-site.xml' },
      { name: 'empty', value: '', isFinal: false, file: 'hive-site.xml' },
    ]);
    const env = { SKEP_CONF_metastore_max_open_txns: '5', SKEP_CONF_hive_txn_timeout: '1s', PATH: '/bin' };
    const { conf } = Configuration.load({ site, env });
    expect(conf.getInt('hive.max.open.txns')).toBe(5);
    expect(conf.getTimeMs('hive.txn.timeout')).toBe(10_000);
    expect(() => conf.fork().set('metastore.txn.timeout', '1s')).toThrowError(/final/);
    expect(() => Configuration.load({ env: { SKEP_CONF_nobody: '1' } })).toThrowError(/SKEP_CONF_nobody/);
  });

  it('reads properties as attributes, and puts in what variables mean', () => {
    const site = readSiteFile(`<configuration>
      <property name="hive.compactor.run.as.user" value='\${user.name}' final="true"/>
      <property><name>hive.compactor.worker.pool.timeout</name><value>\${pool.hours}h</value></property>
      <property><name>pool.hours</name><value>3</value></property>
      <property><name>hive.txn.xlock.write</name><value/></property>
      <property><name>hive.query.name</name><value>\${env.QUERY:-none} \${nobody.knows}</value></property>
    </configuration>`);
    const { conf } = Configuration.load({ site, system: { 'user.name': 'ann' } });
    expect(conf.get('hive.compactor.run.as.user')).toBe('ann');
    expect(() => conf.fork().set('hive.compactor.run.as.user', 'bob')).toThrow(/final/);
    expect(conf.getTimeMs('hive.compactor.worker.pool.timeout')).toBe(10_800_000);
    expect(conf.getBoolean('hive.txn.xlock.write')).toBe(true);
    expect(conf.get('hive.query.name')).toBe('none $'.concat('{nobody.knows}'));
  });

  it('names the file or variable of a value that cannot be', () => {
    const site = readSiteFile(
      '<configuration><property><name>hive.max.open.txns</name><value>many</value></property></configuration>',
      '/etc/hive-site.xml',
    );
    expect(() => Configuration.load({ site })).toThrow(
      '/etc/hive-site.xml: hive.max.open.txns=many cannot be: hive.max.open.txns expects INT type value of at least 1',
    );
    expect(() => Configuration.load({ env: { SKEP_CONF_hive_max_open_txns: '0' } })).toThrow(
      /^SKEP_CONF_hive_max_open_txns: hive\.max\.open\.txns=0 cannot be/,
    );
    expect(() => readSiteFile('<configuration><xi:include href="a.xml"/></configuration>')).toThrow(/a\.xml/);
  });

  it.each([
    ['hive.txn.timeout', '0', /more than 0/],
    ['hive.txn.timeout', '-1s', /more than 0/],
    ['hive.compactor.check.interval', '-1', /not below 0/],
  ])('refuses the time %s=%s', (name, value, expected) => {
    expect(() => new Configuration().set(name, value)).toThrow(expected);
    expect(new Configuration().set('hive.compactor.aborted.txn.time.threshold', '-1ms')).toEqual([]);
  });

  it.each([
    ['compactor.mapreduce.map.memory.gb', 'none', 'request property'],
    ['compactorthreshold.hive.compactor.abortedtxn.threshold', 'none', 'table property'],
    ['compactorthreshold.hive.compactor.delta.num.threshold', 'yes', 'table property'],
    ['tblprops.orc.compress', 'yes', 'request property'],
    ['tblprops.other', 'none', 'request property'],
    ['hadoop.proxyuser.joe.users', 'yes', 'Hadoop'],
    ['hive.compactor.worker.etl.threads', 'yes', undefined],
  ])('knows %s as one of a family', (name, effect, place) => {
    expect(findParameter(name)?.parameter).toMatchObject({ effect, ...(place === undefined ? {} : { place }) });
  });

  it('names what may be meant by a name that nobody knows', () => {
    expect(new Configuration().set('hive.txn.timout', '1')).toEqual([
      'hive.txn.timout is not a parameter that skep knows; the value is kept (is hive.txn.timeout meant?)',
    ]);
  });

  it.each(['<configuration><property>', '<a></b>', '<property><value>1</value></property>', '< x'])(
    'refuses the site file %s',
    (xml) => {
      expect(() => readSiteFile(xml)).toThrowError(expect.objectContaining({ code: 'SITE_FILE' }));
    },
  );
});
