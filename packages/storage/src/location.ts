import { SkepError } from '@skep/core';

/** A location that skep cannot address. */
export class InvalidLocationError extends SkepError {
  constructor(location: string, why: string) {
    super('INVALID_LOCATION', 'invalid', `location '${location}': ${why}`);
  }
}

/** The parts of `scheme://authority/path`; an absolute path alone has scheme `file`. */
export interface Location {
  readonly scheme: string;
  readonly authority: string;
  /** Absolute, without a slash at the end. */
  readonly path: string;
}

/**
 * Reads a location as Hadoop's Path prints it: the path is plain text, not percent-encoded (`%2F` in it is a part of
 * a folder's name).
 */
export function parseLocation(location: string): Location {
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/]*))?(\/.*)?$/s.exec(location);
  if (match === null || (match[3] === undefined && match[2] === undefined)) {
    throw new InvalidLocationError(location, 'neither an absolute path nor a URI');
  }
  const path = (match[3] ?? '/').replace(/\/+/g, '/').replace(/(?<=.)\/$/, '');
  return { scheme: (match[1] ?? 'file').toLowerCase(), authority: match[2] ?? '', path };
}

/** As Hive writes it: `file:/a/b`, `s3a://bucket/a`. */
export function formatLocation(location: Location): string {
  const authority = location.authority === '' ? '' : `//${location.authority}`;
  return `${location.scheme}:${authority}${location.path}`;
}

/** The path on this machine; refuses other schemes. */
export function toLocalPath(location: string): string {
  const parsed = parseLocation(location);
  if (parsed.scheme !== 'file' || (parsed.authority !== '' && parsed.authority !== 'localhost')) {
    throw new InvalidLocationError(location, 'not on the local file system');
  }
  return parsed.path;
}

/** `file:/…` of an absolute local path. */
export function toFileUri(path: string): string {
  return formatLocation(parseLocation(path));
}

/** Appends elements to a path or URI. */
export function joinPath(base: string, ...elements: string[]): string {
  return [base.replace(/(?<=.)\/+$/, ''), ...elements.filter((element) => element !== '')]
    .join('/')
    .replace(/^\/\//, '/');
}

/** Last element of a path or URI. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Everything above the last element. */
export function parentPath(path: string): string {
  const at = path.lastIndexOf('/');
  return at <= 0 ? '/' : path.slice(0, at);
}
