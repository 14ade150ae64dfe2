import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { InvalidRequestError } from './errors.js';

/** Whose token it is; undefined: nobody's. */
export type TokenTable = (token: string) => string | undefined;

/** A token is random, so a plain hash of it cannot be searched backwards. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Reads `USER SHA256-IN-HEX` lines. Only hashes are kept, and every one is compared whichever matches. */
export async function readTokenTable(path: string): Promise<TokenTable> {
  const text = await readTextFile(path, 'tokens');
  const entries: { readonly user: string; readonly hash: Buffer }[] = [];
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const content = line.replace(/#.*/, '').trim();
    if (content === '') continue;
    const match = /^(\S+)\s+(?:sha256:)?([0-9a-fA-F]{64})$/.exec(content);
    if (match === null) {
      throw new InvalidRequestError(
        `${path}:${i + 1}: expected USER and the SHA-256 of the token in hex (printf %s TOKEN | sha256sum)`,
      );
    }
    entries.push({ user: match[1], hash: Buffer.from(match[2], 'hex') });
  }
  if (entries.length === 0) throw new InvalidRequestError(`${path}: no tokens in it`);
  return (token) => {
    const hash = hashToken(token);
    let user: string | undefined;
    for (const entry of entries) if (timingSafeEqual(entry.hash, hash)) user = entry.user;
    return user;
  };
}

/** A file that the options name; the error says what it was for. */
export async function readTextFile(path: string, what: string): Promise<string> {
  return (await readOptionFile(path, what)).toString('utf8');
}

export async function readOptionFile(path: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidRequestError(`cannot read the ${what} file ${path}: ${why}`, { cause });
  }
}
