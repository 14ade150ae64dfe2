import type { FileEntry, FileSystem } from '@skep/storage';
import type { DfsStatement } from '../parse/ast.js';
import type { SessionContext } from './context.js';
import { ExecutionError, UnsupportedError } from './errors.js';
import type { StatementResult } from './result.js';
import { textResult } from './text-result.js';

/** dfs -ls [-R] [-h] PATH … | -cat PATH … | -du PATH | -count PATH | -test -e PATH: the reading commands of `hdfs dfs`. */
export async function dfs(context: SessionContext, statement: DfsStatement): Promise<StatementResult> {
  const [command, ...rest] = statement.arguments;
  const flags = new Set(rest.filter((argument) => /^-\w+$/.test(argument)));
  const { fs, warehouse } = context.services;
  const paths: string[] = [];
  for (const path of rest.filter((argument) => !/^-\w+$/.test(argument))) paths.push(...(await matching(fs, path)));
  if (paths.length === 0) paths.push(warehouse);
  switch (command) {
    case '-ls':
    case '-lsr':
      return await list(fs, paths, command === '-lsr' || flags.has('-R'));
    case '-cat':
    case '-text':
      return await cat(fs, paths);
    case '-du': {
      const rows: string[][] = [];
      for (const path of paths) {
        for (const entry of await fs.list(path)) rows.push([`${await sizeOf(fs, entry)}  ${entry.path}`]);
      }
      return textResult(['DFS Output'], rows);
    }
    case '-mkdir':
      for (const path of paths) await fs.mkdirs(path);
      return textResult(['DFS Output'], []);
    case '-rm':
    case '-rmr':
      for (const path of paths) {
        if ((await fs.stat(path)) === undefined) throw new ExecutionError(`rm: \`${path}': No such file or directory`);
        await fs.delete(path, { recursive: command === '-rmr' || flags.has('-r') || flags.has('-R') });
      }
      return textResult(['DFS Output'], []);
    default:
      throw new UnsupportedError(`dfs ${command ?? ''} (it knows -ls, -cat, -text, -du, -mkdir, -rm)`);
  }
}

/** Paths that a pattern stands for: `*` and `?` within a folder's names, hidden ones left out. The pattern itself where there is none. */
async function matching(fs: FileSystem, pattern: string): Promise<string[]> {
  const wild = pattern.search(/[*?]/);
  if (wild < 0) return [pattern];
  const folder = pattern.slice(0, pattern.lastIndexOf('/', wild));
  const [name, ...rest] = pattern.slice(folder.length + 1).split('/');
  if ((await fs.stat(folder))?.isDirectory !== true) return [pattern];
  const source = name
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const matches = new RegExp(`^${source}$`);
  const entries = (await fs.list(folder)).filter((entry) => matches.test(entry.name) && !/^[._]/.test(entry.name));
  const found: string[] = [];
  for (const entry of entries) {
    if (rest.length === 0) found.push(entry.path);
    else if (entry.isDirectory) found.push(...(await matching(fs, [entry.path, ...rest].join('/'))));
  }
  return found.length === 0 ? [pattern] : found.sort();
}

async function list(fs: FileSystem, paths: readonly string[], recursive: boolean): Promise<StatementResult> {
  const entries: FileEntry[] = [];
  for (const path of paths) {
    const found = await fs.stat(path);
    if (found === undefined) throw new ExecutionError(`ls: \`${path}': No such file or directory`);
    if (!found.isDirectory) entries.push(found);
    else await collect(fs, found.path, recursive, entries);
  }
  const rows = entries.map((entry) => [listLine(entry)]);
  return textResult(['DFS Output'], recursive || rows.length === 0 ? rows : [[`Found ${rows.length} items`], ...rows]);
}

async function collect(fs: FileSystem, directory: string, recursive: boolean, into: FileEntry[]): Promise<void> {
  const children = [...(await fs.list(directory))].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const child of children) {
    into.push(child);
    if (recursive && child.isDirectory) await collect(fs, child.path, recursive, into);
  }
}

/** A line as `hdfs dfs -ls` prints it; owner and group are those of every local file: the user's own. */
function listLine(entry: FileEntry): string {
  const when = new Date(entry.modifiedMs).toISOString().slice(0, 16).replace('T', ' ');
  const mode = entry.isDirectory ? 'drwxr-xr-x   -' : '-rw-r--r--   1';
  return `${mode} ${entry.isDirectory ? '         0' : String(entry.sizeBytes).padStart(10)} ${when} ${entry.path}`;
}

async function cat(fs: FileSystem, paths: readonly string[]): Promise<StatementResult> {
  const rows: string[][] = [];
  for (const path of paths) {
    const source = await fs.open(path);
    const text = new TextDecoder().decode(await source.slice(0, source.size));
    await source.close?.();
    for (const line of text.split('\n')) rows.push([line]);
  }
  return textResult(['DFS Output'], rows);
}

async function sizeOf(fs: FileSystem, entry: FileEntry): Promise<number> {
  if (!entry.isDirectory) return entry.sizeBytes;
  let sum = 0;
  for (const child of await fs.list(entry.path)) sum += await sizeOf(fs, child);
  return sum;
}
