import { SkepError } from '@skep/core';

/** A value that a parameter cannot have; the wording is HiveConf.verifyAndSet's. */
export class InvalidConfigError extends SkepError {
  readonly key: string;
  readonly value: string;
  readonly expected: string;

  /** `where`: the file or variable it is from; absent: SET. */
  constructor(key: string, value: string, expected: string, where?: string) {
    const what = where === undefined ? `'SET ${key}=${value}' FAILED because` : `${where}: ${key}=${value} cannot be:`;
    super('INVALID_CONFIG', 'invalid', `${what} ${key} expects ${expected}`);
    this.key = key;
    this.value = value;
    this.expected = expected;
  }
}

/** A parameter that hive-site.xml declares final, or code that asks for one nobody knows. */
export class ConfigError extends SkepError {
  readonly key: string;

  constructor(key: string, message: string) {
    super('CONFIG', 'invalid', message);
    this.key = key;
  }
}

/** hive-site.xml that cannot be read. */
export class SiteFileError extends SkepError {
  readonly path: string;
  readonly offset: number;

  constructor(path: string, offset: number, what: string) {
    super('SITE_FILE', 'invalid', `${path} at character ${offset}: ${what}`);
    this.path = path;
    this.offset = offset;
  }
}
