import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { BugError } from '@skep/core';
import { describe, expect, test } from 'vitest';
import type { CliIo } from '../io.js';
import { main } from '../main.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..');
const testFiles = join(root, 'packages/orc/test-files');
const examples = join(process.env.SKEP_SHARED ?? join(root, '../shared'), 'golden/orc-examples');

/** What `skep dump` prints, without opening a home. */
async function dump(args: readonly string[], env: CliIo['env'] = {}) {
  const texts = { out: [] as Buffer[], err: [] as Buffer[] };
  const stream = (parts: Buffer[]) => new PassThrough().on('data', (chunk: Buffer) => parts.push(chunk));
  const io: CliIo = {
    stdin: new PassThrough(),
    stdout: stream(texts.out),
    stderr: stream(texts.err),
    env,
    openHome: async () => {
      throw new BugError('dump needs no home');
    },
    onInterrupt: () => () => {},
  };
  const code = await main(['dump', ...args], io);
  return { code, out: Buffer.concat(texts.out).toString(), err: Buffer.concat(texts.err).toString() };
}

/** The same JSON objects: digits as they are, but for the form of exponents. */
function normal(line: string): string {
  return line.replace(/(?<=[[:,] ?)-?\d+(\.\d+)?e[+-]?\d+/g, (number) => String(Number(number)));
}

describe('encrypted columns', () => {
  const file = (name: string) => join(testFiles, name);
  const rows = (name: string) => readFileSync(file(name), 'utf8');

  test('with a key file, or the one that SKEP_ORC_KEYS names', async () => {
    const args = [file('encrypted-zlib-two-keys.orc'), '--data', '--json'];
    const keys = file('encrypted-zlib-two-keys.keys');
    expect(await dump([...args, '--key-file', keys])).toEqual({
      code: 0,
      out: rows('encrypted-zlib-two-keys.jsn'),
      err: '',
    });
    expect((await dump(args, { SKEP_ORC_KEYS: keys })).out).toBe(rows('encrypted-zlib-two-keys.jsn'));
    expect((await dump([...args, '--masked'])).out).toBe(rows('encrypted-zlib-two-keys.masked.jsn'));
  });

  test('what is encrypted is told; the rows are refused by name', async () => {
    const path = file('encrypted-zlib-two-keys.orc');
    expect((await dump([path])).out).toContain(
      "ssn: with key 'pii' version 0 (AES_CTR_128), mask nullify, not readable without it",
    );
    const json = JSON.parse((await dump([path, '--json', '--key-file', file('encrypted-none.keys')])).out);
    expect(json.encryptedColumns[3]).toMatchObject({ key: { name: 'pii' }, readable: true });
    expect(json.encryptedColumns[5]).toMatchObject({ key: { name: 'top_secret', version: 3 }, readable: false });
    const refused = await dump([path, '--data']);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/column ssn is encrypted with key 'pii' version 0 \(AES_CTR_128\): give the key/);
  });

  test('key files that are none', async () => {
    const path = file('encrypted-none.orc');
    expect(await dump([path, '--key-file', file('missing.keys')])).toMatchObject({
      code: 1,
      err: expect.stringContaining('missing.keys cannot be read'),
    });
    const wrong = await dump([path, '--key-file', file('encrypted-none.jsn')]);
    expect(wrong).toMatchObject({ code: 1, err: expect.stringMatching(/encrypted-none\.jsn line 1: not NAME=HEX/) });
    expect(wrong.err).not.toContain('text 0');
  });
});

describe.skipIf(!existsSync(examples))(
  "dump --data --json of ORC's examples (skipped where ../shared is missing)",
  () => {
    const expected = existsSync(examples) ? readdirSync(join(examples, 'expected')) : [];
    test.each(expected)('%s', async (name) => {
      const lines = gunzipSync(readFileSync(join(examples, 'expected', name))).toString();
      const { code, out, err } = await dump([join(examples, name.replace('.jsn.gz', '.orc')), '--data', '--json']);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const [got, want] = [out, lines].map((text) => text.split('\n').filter((line) => line !== ''));
      expect(got.length).toBe(want.length);
      for (let i = 0; i < want.length; i++) if (got[i] !== want[i]) expect(normal(got[i])).toBe(normal(want[i]));
    });

    test.each([
      'zero.orc',
      'corrupt/negative_dict_entry_lengths.orc',
      'corrupt/missing_length_stream_in_string_dict.orc',
    ])('%s is refused: file, place, and what is wrong', async (name) => {
      const { code, err } = await dump([join(examples, name), '--data', '--json']);
      expect(code).toBe(1);
      expect(err).toContain(`${join(examples, name)} at byte `);
    });
  },
);
