import { SkepError } from '@skep/core';

/**
 * The text is not HiveQL. The message has Hive's own form (org.apache.hadoop.hive.ql.parse.ParseException):
 * `line 1:24 cannot recognize input near '<EOF>' '<EOF>' '<EOF>' in expression specification`.
 */
export class ParseError extends SkepError {
  /** From 1. */
  readonly line: number;
  /** From 0, as Hive counts. */
  readonly charPositionInLine: number;
  /** The token where the parser stopped, `<EOF>` at the end. */
  readonly near: string;

  constructor(line: number, charPositionInLine: number, near: string, what: string) {
    super('PARSE_ERROR', 'invalid', `ParseException line ${line}:${charPositionInLine} ${what}`, {
      hiveCode: 40000,
      sqlState: '42000',
    });
    this.line = line;
    this.charPositionInLine = charPositionInLine;
    this.near = near;
  }
}
