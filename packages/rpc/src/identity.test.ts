import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hasOpenssl, makeAuthority, makeCertificate, makeExpiredCertificate, type Pair } from '../test/certificates.js';
import { ANSWER, closeAfterTest, serving } from '../test/serving.js';
import {
  bindService,
  type CallContext,
  type CompactionService,
  CompactionServiceService,
  CompactRequest,
  type ConnectOptions,
  connect,
  currentCall,
  type IdentityOptions,
  LockRequest,
  LockServiceService,
  OpenTxnsRequest,
  type ServeOptions,
  serve,
} from './index.js';

const scratch = mkdtempSync(join(tmpdir(), 'skep-identity-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const tokensFile = join(scratch, 'tokens');
writeFileSync(
  tokensFile,
  `# who may call\nalice ${sha256('alice-secret')}\n\ngate sha256:${sha256('gate-secret')} # a gateway\n`,
);

/** A server that tells who it was called by. */
async function seen(options: ServeOptions) {
  const calls: CallContext[] = [];
  const note = async <T>(answer: T): Promise<T> => {
    const call = currentCall();
    if (call !== undefined) calls.push(call);
    return answer;
  };
  const running = await serving(
    { lock: () => note(ANSWER), checkLock: () => note(ANSWER), openTxns: () => note({ txnIds: [1n] }) },
    options,
  );
  return { ...running, calls };
}

const check = { lockId: 1n };
const open = (user: string) => OpenTxnsRequest.fromPartial({ count: 1, user });

describe('a server that trusts', () => {
  it('takes the user of the request, or of the header, which must agree', async () => {
    const { locks, txns, calls } = await seen({});
    await locks().checkLock(check);
    await txns().openTxns(open('alice'));
    await locks({ user: 'bob' }).checkLock(check);
    expect(calls.map(({ caller, user }) => [caller, user])).toEqual([
      [undefined, ''],
      [undefined, 'alice'],
      [undefined, 'bob'],
    ]);
    await expect(txns({ user: 'bob' }).openTxns(open('alice'))).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      user: 'alice',
      message: "the call is made for user 'bob', its request names 'alice'",
    });
  });

  it.each(['0.0.0.0:0', '[::]:0', 'example.org:9'])('refuses to listen on %s', async (address) => {
    await expect(serve([], { address })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('can be reached from other machines: it needs TLS'),
    });
  });

  it('listens everywhere where that is allowed as insecure', async () => {
    const server = await serve([], { address: '0.0.0.0:0', insecure: true });
    closeAfterTest(() => server.close(10));
    expect(server.address).toMatch(/^0\.0\.0\.0:\d+$/);
  });

  it('names an address that is none', async () => {
    await expect(serve([], { address: 'nowhere' })).rejects.toMatchObject({
      message: "'nowhere' is no address: write HOST:PORT or [IPV6]:PORT",
    });
  });
});

describe('tokens', () => {
  const identity: IdentityOptions = { tokensFile };

  it('fill in the user that the request leaves out', async () => {
    const users: string[] = [];
    const openTxns = async ({ user }: OpenTxnsRequest) => {
      users.push(user);
      return { txnIds: [1n] };
    };
    const { txns } = await serving({ openTxns }, { identity });
    await txns({ token: 'alice-secret' }).openTxns(open(''));
    expect(users).toEqual(['alice']);
  });

  it('say who calls', async () => {
    const { locks, txns, calls } = await seen({ identity });
    await locks({ token: 'alice-secret' }).checkLock(check);
    await txns({ token: 'alice-secret' }).openTxns(open('alice'));
    const tokenFile = join(scratch, 'gate.token');
    writeFileSync(tokenFile, 'gate-secret\n');
    await locks({ tokenFile }).checkLock(check);
    expect(calls.map(({ caller, user }) => [caller, user])).toEqual([
      ['alice', 'alice'],
      ['alice', 'alice'],
      ['gate', 'gate'],
    ]);
  });

  it.each<[string, ConnectOptions, string]>([
    ['none', {}, 'a token is needed: authorization: Bearer TOKEN'],
    ['a wrong one', { token: 'alice-secret2' }, 'the token is not known here'],
    ['a hash', { token: sha256('alice-secret') }, 'the token is not known here'],
  ])('are refused: %s', async (_, options, message) => {
    const { locks, calls } = await seen({ identity });
    await expect(locks(options).checkLock(check)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message });
    expect(calls).toEqual([]);
  });

  it('are not sent in plain text to other machines', async () => {
    const { service, close } = connect(LockServiceService, 'example.org:9', { token: 'alice-secret' });
    closeAfterTest(close);
    await expect(service.checkLock(check)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('in plain text'),
    });
  });

  it.each([
    ['alice', `${tokensFile}-0:1: expected USER and the SHA-256`],
    ['', `${tokensFile}-1: no tokens in it`],
  ])('in a bad file (%j) are refused at the start', async (text, message) => {
    const file = `${tokensFile}-${text === '' ? 1 : 0}`;
    writeFileSync(file, text);
    await expect(serve([], { identity: { tokensFile: file } })).rejects.toMatchObject({
      message: expect.stringContaining(message),
    });
    await expect(serve([], { identity: { tokensFile: '/none' } })).rejects.toMatchObject({
      message: expect.stringContaining('cannot read the tokens file /none'),
    });
  });
});

describe('acting for another', () => {
  const rules = (proxyUsers: Record<string, string>): ServeOptions => ({ identity: { tokensFile, proxyUsers } });
  const allowed = rules({ 'hadoop.proxyuser.gate.hosts': '127.0.0.0/8', 'hadoop.proxyuser.gate.users': 'alice, bob' });

  it('works as the rules allow, by header or by the request', async () => {
    const { locks, txns, calls } = await seen(allowed);
    await locks({ token: 'gate-secret', user: 'bob' }).checkLock(check);
    await txns({ token: 'gate-secret' }).openTxns(open('alice'));
    await txns({ token: 'gate-secret', user: 'alice' }).openTxns(open('alice'));
    await locks({ token: 'gate-secret' }).checkLock(check, { user: 'bob' });
    expect(calls.map(({ caller, user }) => [caller, user])).toEqual([
      ['gate', 'bob'],
      ['gate', 'alice'],
      ['gate', 'alice'],
      ['gate', 'bob'],
    ]);
  });

  it('is refused beyond them, with who and whom', async () => {
    const { locks, txns, calls } = await seen(allowed);
    const denied = (caller: string, user: string, why: string) => ({
      code: 'ACCESS_DENIED',
      caller,
      user,
      message: expect.stringContaining(why),
    });
    await expect(txns({ token: 'alice-secret' }).openTxns(open('bob'))).rejects.toMatchObject(
      denied('alice', 'bob', 'User: alice is not allowed to impersonate bob: no hadoop.proxyuser.alice.… is set'),
    );
    await expect(locks({ token: 'gate-secret', user: 'carol' }).checkLock(check)).rejects.toMatchObject(
      denied('gate', 'carol', 'hadoop.proxyuser.gate.users and .groups do not include carol'),
    );
    await expect(txns({ token: 'gate-secret', user: 'alice' }).openTxns(open('bob'))).rejects.toMatchObject(
      denied('gate', 'bob', "made for user 'alice', its request names 'bob'"),
    );
    const lock = LockRequest.fromPartial({ user: 'bob' });
    await expect(locks({ token: 'alice-secret' }).lock(lock)).rejects.toMatchObject(
      denied('alice', 'bob', 'impersonate'),
    );
    expect(calls).toEqual([]);
  });

  it('covers whom a compaction runs as', async () => {
    const runAs: string[] = [];
    const compact = async (request: CompactRequest) => {
      runAs.push(request.runAs);
      return { id: 1n, state: 1, accepted: true, errorMessage: '' };
    };
    const methods = Object.keys(CompactionServiceService).map((name) => [name, async () => ({})]);
    const service = { ...Object.fromEntries(methods), compact } as CompactionService;
    const server = await serve([bindService(CompactionServiceService, service)], allowed);
    const client = (token: string) => {
      const { service, close } = connect(CompactionServiceService, server.address, { token });
      closeAfterTest(close);
      return service;
    };
    closeAfterTest(() => server.close(50));
    const request = (name: string) => CompactRequest.fromPartial({ database: 'd', table: 't', runAs: name });
    for (const name of ['', 'gate', 'alice']) await client('gate-secret').compact(request(name));
    await client('alice-secret').compact(request('alice'));
    await expect(client('gate-secret').compact(request('hdfs'))).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      user: 'hdfs',
    });
    await expect(client('alice-secret').compact(request('bob'))).rejects.toMatchObject({
      caller: 'alice',
      user: 'bob',
    });
    expect(runAs).toEqual(['', 'gate', 'alice', 'alice']);
  });

  it('is refused from another host', async () => {
    const { locks } = await seen(
      rules({ 'hadoop.proxyuser.gate.hosts': '10.1.2.3', 'hadoop.proxyuser.gate.users': '*' }),
    );
    await expect(locks({ token: 'gate-secret', user: 'bob' }).checkLock(check)).rejects.toMatchObject({
      message: expect.stringContaining('hadoop.proxyuser.gate.hosts does not include 127.0.0.1'),
    });
  });
});

describe.skipIf(!hasOpenssl())('TLS', () => {
  const authority = makeAuthority(scratch, 'authority');
  const stranger = makeAuthority(scratch, 'stranger');
  const tls: Pair = makeCertificate(scratch, authority, 'server', 'DNS:localhost,IP:127.0.0.1');
  const alice = makeCertificate(scratch, authority, 'alice', 'DNS:alice.example.org');
  const caFile = authority.certFile;
  const quick = { retry: { maxAttempts: 1 } };

  it('keeps what is sent from others', async () => {
    const { locks } = await seen({ tls });
    expect(await locks({ tls: { caFile } }).checkLock(check)).toEqual(ANSWER);
    await expect(locks(quick).checkLock(check)).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('it may want TLS'),
    });
    const plain = await seen({});
    await expect(plain.locks({ tls: { caFile } }).checkLock(check)).rejects.toMatchObject({
      code: 'TLS',
      message: expect.stringContaining('does not speak TLS'),
    });
  });

  it('is refused where a certificate has expired', async () => {
    const old = makeExpiredCertificate(scratch, authority, 'old', 'DNS:localhost,IP:127.0.0.1');
    const { locks } = await seen({ tls: old });
    await expect(locks({ tls: { caFile } }).checkLock(check)).rejects.toMatchObject({
      code: 'TLS',
      message: expect.stringContaining('certificate has expired'),
    });
  });

  it('is refused by a client that does not know the authority, or expects another name', async () => {
    const { locks } = await seen({ tls });
    // Once, however often a lost connection is tried again.
    await expect(locks({ tls: { caFile: stranger.certFile } }).checkLock(check)).rejects.toMatchObject({
      code: 'TLS',
      kind: 'invalid',
      message: expect.stringMatching(/^the certificate of 127\.0\.0\.1:\d+ is refused here: unable to verify/),
    });
    const other = locks({ tls: { caFile, serverName: 'other.example.org' }, ...quick });
    await expect(other.checkLock(check)).rejects.toMatchObject({
      message: expect.stringContaining('other.example.org'),
    });
    expect(await locks({ tls: { caFile, serverName: 'localhost' } }).checkLock(check)).toEqual(ANSWER);
  });

  const mutual: ServeOptions = { tls: { ...tls, clientCaFile: caFile } };

  it('of both sides says who calls', async () => {
    const { locks, calls } = await seen(mutual);
    await locks({ tls: { caFile, ...alice } }).checkLock(check);
    const byDns = await seen({ ...mutual, identity: { certificateName: 'DNS' } });
    await byDns.locks({ tls: { caFile, ...alice } }).checkLock(check);
    expect([...calls, ...byDns.calls].map(({ caller }) => caller)).toEqual(['alice', 'alice.example.org']);
  });

  it('of both sides refuses a client without a certificate, or with a stranger’s', async () => {
    const { locks, calls } = await seen(mutual);
    await expect(locks({ tls: { caFile }, ...quick }).checkLock(check)).rejects.toMatchObject({
      message: expect.stringMatching(/asks for a certificate of its clients|may want a certificate/),
    });
    const forged = makeCertificate(scratch, stranger, 'alice', 'DNS:forged');
    await expect(locks({ tls: { caFile, ...forged }, ...quick }).checkLock(check)).rejects.toMatchObject({
      message: expect.stringMatching(/refuses the certificate shown|may not take the certificate shown/),
    });
    expect(calls).toEqual([]);
  });

  it('of both sides with a token: the token says who', async () => {
    const { locks, calls } = await seen({ ...mutual, identity: { tokensFile } });
    await locks({ tls: { caFile, ...alice }, token: 'gate-secret' }).checkLock(check);
    await locks({ tls: { caFile, ...alice } }).checkLock(check);
    expect(calls.map(({ caller }) => caller)).toEqual(['gate', 'alice']);
  });

  it('lets a server listen everywhere only if it also knows who calls', async () => {
    const address = '0.0.0.0:0';
    await expect(serve([], { address, tls })).rejects.toMatchObject({
      message: expect.stringContaining('a way to know who calls'),
    });
    const server = await serve([], { address, ...mutual });
    closeAfterTest(() => server.close(10));
  });

  it('names the file that is not there, or not what it should be', async () => {
    await expect(serve([], { tls: { ...tls, certFile: '/none' } })).rejects.toMatchObject({
      message: expect.stringContaining('cannot read the certificate file /none'),
    });
    await expect(serve([], { tls: { ...tls, keyFile: tls.certFile } })).rejects.toMatchObject({
      message: expect.stringContaining('no private key in PEM form in it'),
    });
    await expect(serve([], { tls: { ...tls, keyFile: alice.keyFile } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(`certificate ${tls.certFile} and key ${alice.keyFile} are no pair`),
    });
    const { locks } = await seen({ tls });
    const mixed = { caFile, certFile: alice.certFile, keyFile: tls.keyFile };
    await expect(locks({ tls: mixed }).checkLock(check)).rejects.toMatchObject({
      message: expect.stringContaining('are no pair'),
    });
    await expect(locks({ tls: { caFile, certFile: alice.certFile } }).checkLock(check)).rejects.toMatchObject({
      message: 'a client certificate needs its key, and a key its certificate',
    });
  });
});
