import { chmodSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { storageError } from './errors.js';
import type { FileEntry, FileSystem } from './file-system.js';
import { localFileSystem } from './local-file-system.js';
import { joinPath, parentPath, parseLocation, toFileUri, toLocalPath } from './location.js';
import { memoryFileSystem } from './memory-file-system.js';
import { exists, readFile, walk, writeFile } from './walk.js';

const scratch = mkdtempSync(join(tmpdir(), 'skep-storage-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const systems: [string, FileSystem, string][] = [
  ['local path', localFileSystem(), join(scratch, 'a')],
  ['local URI', localFileSystem(), `file:${join(scratch, 'b')}`],
  ['memory', memoryFileSystem(), '/wh/t'],
];
const text = (value: string) => new TextEncoder().encode(value);

describe.each(systems)('%s', (_, fs, root) => {
  it('writes, lists and reads', async () => {
    await writeFile(fs, joinPath(root, 'p=a%2Fb c/f2'), text('two'));
    await writeFile(fs, joinPath(root, 'p=a%2Fb c/f10'), text('ten!'));
    await fs.mkdirs(joinPath(root, 'empty/deep'));
    expect((await fs.list(root)).map((e) => [e.name, e.isDirectory])).toEqual([
      ['empty', true],
      ['p=a%2Fb c', true],
    ]);
    const files: FileEntry[] = [];
    for await (const file of walk(fs, root)) files.push(file);
    expect(files.map((e) => [e.path, e.sizeBytes])).toEqual([
      [`${root}/p=a%2Fb c/f10`, 4],
      [`${root}/p=a%2Fb c/f2`, 3],
    ]);
    const source = await fs.open(files[0].path);
    expect(source.size).toBe(4);
    expect(source.slice(1, 3)).toEqual(text('en'));
    await source.close?.();
  });

  it('never overwrites', async () => {
    const path = joinPath(root, 'once');
    await writeFile(fs, path, text('1'));
    await expect(fs.create(path)).rejects.toMatchObject({ code: 'PATH_EXISTS', path });
    await expect(fs.rename(joinPath(root, 'empty'), path)).rejects.toMatchObject({ code: 'PATH_EXISTS' });
    expect(await readFile(fs, path)).toEqual(text('1'));
  });

  it('takes back an aborted file', async () => {
    const sink = await fs.create(joinPath(root, 'gone'));
    await sink.write(text('x'));
    await sink.abort();
    expect(await exists(fs, joinPath(root, 'gone'))).toBe(false);
  });

  it('renames and deletes', async () => {
    await fs.rename(joinPath(root, 'p=a%2Fb c'), joinPath(root, 'moved/here'));
    expect(await readFile(fs, joinPath(root, 'moved/here/f2'))).toEqual(text('two'));
    await expect(fs.delete(joinPath(root, 'moved'))).rejects.toMatchObject({ code: 'NOT_EMPTY' });
    expect(await fs.delete(joinPath(root, 'moved'), { recursive: true })).toBe(true);
    expect(await fs.delete(joinPath(root, 'moved'))).toBe(false);
    expect(await fs.stat(joinPath(root, 'moved'))).toBeUndefined();
  });

  it('names what is missing', async () => {
    await expect(fs.list(joinPath(root, 'no'))).rejects.toMatchObject({ code: 'NO_SUCH_PATH' });
    await expect(async () => fs.open(joinPath(root, 'no'))).rejects.toMatchObject({ code: 'NO_SUCH_PATH' });
  });
});

describe('local files', () => {
  it('write many pieces whole', async () => {
    const fs = localFileSystem({ durable: false });
    const path = join(scratch, 'pieces');
    const sink = await fs.create(path);
    for (let i = 0; i < 3000; i++) await sink.write(text(`${i},`));
    await sink.write(new Uint8Array(1 << 20));
    await sink.close();
    const bytes = await readFile(fs, path);
    expect(new TextDecoder().decode(bytes.subarray(0, 10))).toBe('0,1,2,3,4,');
    expect(bytes.length).toBe(Array.from({ length: 3000 }, (_, i) => `${i},`).join('').length + (1 << 20));
  });

  it('report a file cut under the reader', async () => {
    const fs = localFileSystem();
    const path = join(scratch, 'cut');
    await writeFile(fs, path, text('12345'));
    const source = await fs.open(path);
    truncateSync(path, 2);
    expect(() => source.slice(0, 5)).toThrow(/ends before byte 5/);
    await source.close?.();
  });

  it('turn a full disk into a typed error', () => {
    expect(storageError('write', '/x', { code: 'ENOSPC' })).toMatchObject({ code: 'NO_SPACE', kind: 'unavailable' });
    expect(storageError('write', '/x', { code: 'EROFS' })).toMatchObject({ code: 'READ_ONLY_STORAGE' });
  });

  it.skipIf(process.getuid?.() === 0)('say when access is denied', async () => {
    const dir = mkdtempSync(join(scratch, 'ro-'));
    chmodSync(dir, 0o500);
    await expect(localFileSystem().create(join(dir, 'x'))).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
  });
});

describe('locations', () => {
  it('are plain text, as Hadoop prints them', () => {
    expect(parseLocation('file:/a/b%2Fc d/')).toEqual({ scheme: 'file', authority: '', path: '/a/b%2Fc d' });
    expect(toLocalPath('file:///a/b')).toBe('/a/b');
    expect(toFileUri('/a/b')).toBe('file:/a/b');
    expect(parseLocation('s3a://bucket/x')).toEqual({ scheme: 's3a', authority: 'bucket', path: '/x' });
    expect(() => toLocalPath('s3a://bucket/x')).toThrow(/not on the local/);
    expect(() => parseLocation('relative/x')).toThrow(/absolute/);
    expect(parentPath('/a')).toBe('/');
  });
});
