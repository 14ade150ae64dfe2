import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { splitScript } from '@skep/sql';
import type { CliSession } from './cli-home.js';
import type { CliIo } from './io.js';
import type { ScriptRunner } from './run-script.js';

/** Lines kept of earlier shells. */
const HISTORY_LINES = 1000;

/** The interactive shell: statements over several lines, history, Ctrl-C stops a statement. */
export async function runShell(
  io: CliIo,
  session: CliSession,
  runner: ScriptRunner,
  historyFile: string,
): Promise<void> {
  const history = new History(historyFile);
  const lines = createInterface({
    input: io.stdin,
    output: io.stdout,
    terminal: io.stdin.isTTY === true && io.stdout.isTTY === true,
    history: history.newestFirst(),
    historySize: HISTORY_LINES,
  });
  const shell = new Shell(lines, session, runner, history);
  lines.on('SIGINT', () => shell.interrupt());
  const stopListening = io.onInterrupt(() => shell.interrupt());
  try {
    await shell.run();
  } finally {
    stopListening();
    lines.close();
  }
}

class Shell {
  private pending = '';
  private busy = false;
  /** A second Ctrl-C while nothing reacts to the first one ends the shell. */
  private interrupts = 0;
  private queue: string[] = [];
  private wake: (() => void) | undefined;
  private closed = false;

  constructor(
    private readonly lines: Interface,
    private readonly session: CliSession,
    private readonly runner: ScriptRunner,
    private readonly history: History,
  ) {
    lines.on('line', (line) => {
      this.queue.push(line);
      this.wake?.();
    });
    lines.on('close', () => {
      this.closed = true;
      this.wake?.();
    });
  }

  async run(): Promise<void> {
    for (;;) {
      this.prompt();
      const line = await this.nextLine();
      if (line === undefined) return;
      this.interrupts = 0;
      if ((await this.take(line)) === 'quit') return;
    }
  }

  interrupt(): void {
    if (this.busy) {
      if (!this.runner.interrupt() && ++this.interrupts > 1) process.exit(1);
      return;
    }
    if (this.pending === '' && this.lines.line === '') {
      this.lines.close();
      return;
    }
    this.pending = '';
    this.lines.write(null, { ctrl: true, name: 'u' });
    process.stdout.write('^C\n');
    this.prompt();
  }

  private prompt(): void {
    if (this.closed) return;
    const { currentDatabase, openTransaction } = this.session;
    const mark = openTransaction === undefined ? '' : openTransaction.isLost ? '!' : '*';
    const first = `skep (${currentDatabase})${mark}> `;
    this.lines.setPrompt(this.pending === '' ? first : '> '.padStart(first.length));
    this.lines.prompt();
  }

  private async nextLine(): Promise<string | undefined> {
    while (this.queue.length === 0) {
      if (this.closed) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = undefined;
    }
    return this.queue.shift();
  }

  private async take(line: string): Promise<'ok' | 'quit'> {
    const text = this.pending === '' ? line : `${this.pending}\n${line}`;
    const { statements, rest, unfinished } = splitScript(text);
    this.pending = rest === undefined && unfinished === undefined ? '' : text;
    const complete = this.pending === '' ? text : text.slice(0, rest?.start ?? text.length);
    if (statements.length === 0) return 'ok';
    this.pending = rest === undefined ? '' : text.slice(rest.start);
    this.history.add(statements.map((statement) => statement.text).join('; '));
    this.busy = true;
    try {
      return (await this.runner.run(complete)) === 'quit' ? 'quit' : 'ok';
    } finally {
      this.busy = false;
    }
  }
}

/** Pieces of HiveQL that a new line means something in: literals, quoted names, comments. */
const PIECES = /'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|`[^`]*`|--[^\n]*(?:\n\s*|$)|\s*\n\s*/g;

/** The same statement on one line: new lines in literals are escaped, those between words are blanks, comments go. */
export const oneLine = (text: string): string =>
  text
    .replace(PIECES, (piece) => (/^['"]/.test(piece) ? piece.replaceAll('\n', '\\n') : /^`/.test(piece) ? piece : ' '))
    .trim();

/** The statements of earlier shells, oldest first in a file of the home. A home that cannot be written has none. */
class History {
  private readonly known: string[];

  constructor(private readonly file: string) {
    this.known = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).slice(-HISTORY_LINES) : [];
  }

  newestFirst(): string[] {
    return [...this.known].reverse();
  }

  add(text: string): void {
    const line = oneLine(text);
    if (line === '' || line === this.known.at(-1)) return;
    this.known.push(line);
    try {
      mkdirSync(dirname(this.file), { recursive: true });
      if (this.known.length <= 2 * HISTORY_LINES) appendFileSync(this.file, `${line}\n`);
      else
        writeFileSync(
          this.file,
          `${this.known
            .splice(0, this.known.length, ...this.known.slice(-HISTORY_LINES))
            .slice(-HISTORY_LINES)
            .join('\n')}\n`,
        );
    } catch {
      // A home on a read-only disk still answers queries.
    }
  }
}
