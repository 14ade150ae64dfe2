import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemClock } from '@skep/core';
import { type ScriptStatement, splitStatements } from '@skep/sql';
import type { CliSession } from './cli-home.js';
import { errorLine, errorStack, UsageError } from './error-line.js';
import { type CliIo, write } from './io.js';
import type { OutputFormat } from './output/rows.js';
import { writeResult } from './output/write-result.js';
import { showProgress } from './progress.js';

export interface RunOptions {
  readonly format: OutputFormat;
  readonly force: boolean;
  readonly verbose: boolean;
  /** Says OK and the time after each statement, as Hive's shell does. */
  readonly interactive: boolean;
}

/** `quit` ends the shell or script without an error. */
export type RunState = 'ok' | 'failed' | 'quit';

/** Scripts that name each other would never end. */
const MAX_SOURCE_DEPTH = 32;

/** Runs statements of scripts in one session and shows what they answer. */
export class ScriptRunner {
  private running: AbortController | undefined;
  private failures = 0;

  constructor(
    private readonly io: CliIo,
    private readonly session: CliSession,
    private readonly options: RunOptions,
  ) {}

  /** Whether any statement has failed so far. */
  get hasFailed(): boolean {
    return this.failures > 0;
  }

  /** After an error, to the next statement of the script. */
  private get goesOn(): boolean {
    return this.options.force || this.session.conf.get('hive.cli.errors.ignore')?.toLowerCase() === 'true';
  }

  /** Aborts the running statement; false where none runs. */
  interrupt(): boolean {
    if (this.running === undefined || this.running.signal.aborted) return false;
    this.running.abort(new InterruptedError());
    return true;
  }

  /** Statements until the first failure, all of them with --force. `file` is named in errors. */
  async run(text: string, file?: string, depth = 0): Promise<RunState> {
    for (const statement of splitStatements(text)) {
      const state = await this.one(statement, file, depth);
      if (state === 'quit') return 'quit';
      if (state === 'failed' && !this.goesOn) return 'failed';
    }
    return 'ok';
  }

  private async one(statement: ScriptStatement, file: string | undefined, depth: number): Promise<RunState> {
    const { text } = statement;
    if (/^(quit|exit)$/i.test(text)) return 'quit';
    try {
      if (text.startsWith('!')) return this.shell(text.slice(1));
      const source = /^source\s+(.+)$/is.exec(text);
      if (source !== null) return await this.source(source[1].trim(), depth);
      await this.execute(text);
      return 'ok';
    } catch (error) {
      this.failures++;
      this.report(error, file === undefined ? '' : `${file}:${statement.line}`);
      if (this.goesOn) this.tellTransaction();
      return 'failed';
    }
  }

  /** An error on stderr; a stack trace with --verbose. */
  report(error: unknown, origin = ''): void {
    this.io.stderr.write(`${errorLine(error, origin)}\n`);
    if (this.options.verbose && !(error instanceof UsageError)) this.io.stderr.write(`${errorStack(error)}\n`);
  }

  /** What became of the transaction that a failed statement was in, where more statements may follow. */
  private tellTransaction(): void {
    const { openTransaction } = this.session;
    if (openTransaction === undefined) return;
    const { txnId, isLost } = openTransaction;
    this.io.stderr.write(
      isLost
        ? `Transaction txnid:${txnId} is rolled back as a whole: ROLLBACK to go on\n`
        : `Transaction txnid:${txnId} is still open: only this statement was undone\n`,
    );
  }

  private async execute(text: string): Promise<void> {
    if (this.options.verbose && !this.options.interactive) await write(this.io.stdout, echo(text));
    const start = systemClock.now();
    const abort = new AbortController();
    this.running = abort;
    const stopProgress = showProgress(this.io, () => this.session.progress);
    try {
      const result = await this.session.execute(text, abort.signal);
      if (result.messages.length > 0) stopProgress();
      for (const message of result.messages) this.io.stderr.write(`${message}\n`);
      // A listing is lines already.
      const format = /^dfs\b/i.test(text) && this.options.format === 'table' ? 'tsv' : this.options.format;
      const header = this.session.conf.get('hive.cli.print.header') === 'true';
      const count = await writeResult(result, this.io.stdout, { format, header, onRows: stopProgress });
      stopProgress();
      if (!this.options.interactive) return;
      const seconds = ((systemClock.now() - start) / 1000).toFixed(3);
      const fetched = result.columns === undefined ? '' : `, Fetched: ${count} row(s)`;
      this.io.stderr.write(`OK\nTime taken: ${seconds} seconds${fetched}\n`);
    } finally {
      stopProgress();
      this.running = undefined;
    }
  }

  private async source(path: string, depth: number): Promise<RunState> {
    if (depth >= MAX_SOURCE_DEPTH)
      throw new UsageError(`source: scripts are nested more than ${MAX_SOURCE_DEPTH} deep`);
    const file = path.replace(/^(["'])(.*)\1$/, '$2');
    return await this.run(await readScript(this.io, file), file, depth + 1);
  }

  private shell(command: string): RunState {
    const { status, error } = spawnSync(command, { shell: true, stdio: 'inherit' });
    if (error === undefined && status === 0) return 'ok';
    throw new UsageError(`! ${command.trim()}: ${error?.message ?? `exit code ${status}`}`);
  }
}

/** A statement as the shell would show it. */
const echo = (text: string): string => `\nskep> ${text.replaceAll('\n', '\n    > ')};\n`;

/** Ctrl-C. */
export class InterruptedError extends UsageError {
  constructor() {
    super('interrupted');
  }
}

/** A script's text; - is standard input. */
export async function readScript(io: Pick<CliIo, 'stdin'>, path: string): Promise<string> {
  try {
    // A pipe whose writer takes its time has nothing to read at first, which is no error.
    if (path !== '-') return readFileSync(path, 'utf8');
    const chunks: Buffer[] = [];
    for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
    return String(Buffer.concat(chunks));
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
