/** One statement of a script, without its semicolon and the comments before it. `line` from 1, `column` from 0. */
export interface ScriptStatement {
  readonly text: string;
  readonly line: number;
  readonly column: number;
  /** Where `text` stands in the script. */
  readonly start: number;
  readonly end: number;
}

export interface Script {
  /** Statements that a semicolon ends, and shell commands that a line ends. */
  readonly statements: readonly ScriptStatement[];
  /** What stands behind the last semicolon, if it is more than blanks and comments: a file's last statement may lack its semicolon. */
  readonly rest?: ScriptStatement;
  /** What the text ends inside of: a shell asks for another line. Undefined where everything is complete. */
  readonly unfinished?: 'statement' | 'string' | 'identifier' | 'comment';
}

/**
 * Cuts a script at its semicolons, outside of quotes and comments, as the hive CLI and beeline do (HiveStringUtils.removeComments,
 * CliDriver.splitSemiColon). `-- …` ends with its line, wherever it stands. A line that begins with `!` and one that says only
 * quit or exit needs no semicolon.
 */
export function splitScript(text: string): Script {
  const statements: ScriptStatement[] = [];
  let unfinished: Script['unfinished'];
  let start = skipBlank(text, 0);
  let at = start;
  const take = (end: number): void => {
    if (end > start) statements.push(statementAt(text, start, end));
  };
  while (at < text.length) {
    if (at === start) {
      const lineEnd = endOfLineCommand(text, at);
      if (lineEnd !== undefined) {
        take(lineEnd.end);
        at = start = skipBlank(text, lineEnd.next);
        continue;
      }
    }
    const c = text[at];
    if (c === ';') {
      take(at);
      at = start = skipBlank(text, at + 1);
      continue;
    }
    const close = closingOf(text, at);
    if (close === undefined) {
      at++;
    } else if (close.end < 0) {
      unfinished = close.kind;
      at = text.length;
    } else {
      at = close.end;
    }
  }
  if (start >= text.length) {
    const open = unclosedBlockComment(text);
    return open ? { statements, unfinished: 'comment' } : { statements };
  }
  return { statements, rest: statementAt(text, start, text.length), unfinished: unfinished ?? 'statement' };
}

/** All statements of a script, the last one with or without its semicolon. */
export function splitStatements(text: string): readonly ScriptStatement[] {
  const { statements, rest } = splitScript(text);
  return rest === undefined ? statements : [...statements, rest];
}

interface Closing {
  readonly kind: 'string' | 'identifier' | 'comment';
  /** -1 where the text ends first. */
  readonly end: number;
}

/** Where the string, quoted name or comment that begins at `at` ends; undefined where none begins. */
function closingOf(text: string, at: number): Closing | undefined {
  const c = text[at];
  if (c === "'" || c === '"') return { kind: 'string', end: endOfString(text, at) };
  if (c === '`') {
    const close = text.indexOf('`', at + 1);
    return { kind: 'identifier', end: close < 0 ? -1 : close + 1 };
  }
  if (text.startsWith('--', at)) {
    const newline = text.indexOf('\n', at);
    return { kind: 'comment', end: newline < 0 ? text.length : newline };
  }
  if (!text.startsWith('/*', at)) return undefined;
  const close = text.indexOf('*/', at + 2);
  return { kind: 'comment', end: close < 0 ? -1 : close + 2 };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === text[start]) return at + 1;
  }
  return -1;
}

/** The first place from `at` on that is no blank, comment or stray semicolon. */
function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (at < text.length && /[\s;\ufeff]/.test(text[at])) at++;
    const comment = at < text.length && (text[at] === '-' || text[at] === '/') ? closingOf(text, at) : undefined;
    if (comment === undefined) return at;
    if (comment.end < 0) return text.length;
    at = comment.end;
  }
}

/** `!ls` and `quit` end with their line, `!ls` also at a semicolon outside of quotes, which is not part of them. */
function endOfLineCommand(text: string, at: number): { end: number; next: number } | undefined {
  const newline = text.indexOf('\n', at);
  const next = newline < 0 ? text.length : newline;
  const line = text.slice(at, next).trimEnd();
  const semicolon = line.startsWith('!') ? semicolonOf(line) : -1;
  if (semicolon >= 0 && semicolon < line.length - 1) return { end: at + semicolon, next: at + semicolon };
  if (!line.startsWith('!') && !/^(?:quit|exit)\s*;?$/i.test(line)) return undefined;
  return { end: at + line.replace(/[\s;]+$/, '').length, next };
}

/** The first that is in no quotes and has no backslash before it. */
function semicolonOf(command: string): number {
  for (let at = 0; at < command.length; at++) {
    if (command[at] === '\\') at++;
    else if (command[at] === ';') return at;
    else if (command[at] === "'" || command[at] === '"') {
      const end = endOfString(command, at);
      if (end < 0) return -1;
      at = end - 1;
    }
  }
  return -1;
}

function unclosedBlockComment(text: string): boolean {
  let at = 0;
  while (at < text.length) {
    const close = closingOf(text, at);
    if (close?.end === -1) return close.kind === 'comment';
    at = close === undefined ? at + 1 : Math.max(close.end, at + 1);
  }
  return false;
}

function statementAt(text: string, start: number, end: number): ScriptStatement {
  const body = text.slice(start, end);
  const trimmed = body.trimEnd();
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < start; at = text.indexOf('\n', at + 1)) line++;
  return { text: trimmed, line, column: start - lineStart, start, end: start + trimmed.length };
}

/** The text without `-- …` that follows a blank, outside of quotes: `set a = b --why` sets a to b, `set a = x--y` to x--y. */
export function stripTrailingComments(text: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const close = closingOf(text, at);
    const comment = text.startsWith('--', at) && (at === 0 || /\s/.test(text[at - 1]));
    if (comment && close !== undefined) {
      at = close.end;
    } else {
      const end = close === undefined || close.kind === 'comment' || close.end < 0 ? at + 1 : close.end;
      kept += text.slice(at, end);
      at = end;
    }
  }
  return kept;
}

/** Where the first token of a statement stands, behind blanks and comments. */
export function firstTokenOffset(text: string): number {
  let at = 0;
  for (;;) {
    while (at < text.length && /[\s\ufeff]/.test(text[at])) at++;
    const comment = text[at] === '-' || text[at] === '/' ? closingOf(text, at) : undefined;
    if (comment === undefined || comment.end < 0) return at;
    at = comment.end;
  }
}
