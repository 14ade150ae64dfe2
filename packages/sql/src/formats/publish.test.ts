import { type FileSystem, memoryFileSystem, readFile, walk, writeFile } from '@skep/storage';
import { expect, it } from 'vitest';
import { freeName, publish } from './publish.js';

async function contents(fs: FileSystem): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { path } of walk(fs, '/')) found[path] = new TextDecoder().decode(await readFile(fs, path));
  return found;
}
const put = (fs: FileSystem, path: string) => writeFile(fs, path, new TextEncoder().encode(path));

it('puts _copy_N before the ending', () => {
  const taken = new Set(['000000_0', '000000_0_copy_1', 'kv.txt']);
  expect([freeName('000000_0', taken), freeName('kv.txt', taken), freeName('kv.txt', taken)]).toEqual([
    '000000_0_copy_2',
    'kv_copy_1.txt',
    'kv_copy_2.txt',
  ]);
});

it('replaces all folders or none', async () => {
  const fs = memoryFileSystem();
  for (const path of ['/t/p=1/000000_0', '/t/p=1/sub/x', '/t/p=1/_hidden', '/t/p=2/000000_0']) await put(fs, path);
  await put(fs, '/t/p=1/.stage/000000_0');
  await put(fs, '/t/p=2/.stage/000000_0');
  const before = await contents(fs);
  const publications = [1, 2].map((p) => ({
    location: `/t/p=${p}`,
    staging: `/t/p=${p}/.stage`,
    overwrite: true,
    files: [{ path: `/t/p=${p}/.stage/000000_0`, name: '000000_0' }],
  }));

  let renames = 0;
  const failing: FileSystem = {
    ...fs,
    async rename(from, to) {
      if (++renames === 5) throw new TypeError('the disk is gone');
      await fs.rename(from, to);
    },
  };
  await expect(publish(failing, publications)).rejects.toThrow('the disk is gone');
  expect(await contents(fs)).toEqual(before);

  await publish(fs, publications);
  expect(await contents(fs)).toEqual({
    '/t/p=1/000000_0': '/t/p=1/.stage/000000_0',
    '/t/p=1/_hidden': '/t/p=1/_hidden',
    '/t/p=2/000000_0': '/t/p=2/.stage/000000_0',
  });
});
