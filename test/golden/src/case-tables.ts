import { splitTopLevel } from './trino-text.js';

/** What the statements of a case say about its tables: enough to choose the rules of comparison. */
export interface CaseTable {
  readonly bucketed: boolean;
  readonly partitionColumns: readonly string[];
}

const NAME = String.raw`(?:\`?\w+\`?\s*\.\s*)?\`?(\w+)\`?`;
const CREATE = new RegExp(
  String.raw`^\s*create\s+(?:(?:transactional|managed|external|temporary)\s+)*table\s+(?:if\s+not\s+exists\s+)?${NAME}(.*)$`,
  'is',
);
const LIKE = new RegExp(String.raw`^\s*like\s+${NAME}`, 'i');
const RENAME = new RegExp(String.raw`^\s*alter\s+table\s+${NAME}\s+rename\s+to\s+${NAME}`, 'i');

/** Keeps the tables known so far; `note` takes each statement before it runs. */
export class CaseTables {
  private readonly tables = new Map<string, CaseTable>();

  note(statement: string): void {
    const create = CREATE.exec(statement);
    if (create !== null) {
      const [, name, rest] = create;
      const like = LIKE.exec(rest);
      const model = like === null ? undefined : this.tables.get(like[1].toLowerCase());
      this.tables.set(name.toLowerCase(), model ?? describe(rest));
      return;
    }
    const rename = RENAME.exec(statement);
    if (rename === null) return;
    const table = this.tables.get(rename[1].toLowerCase());
    if (table !== undefined) this.tables.set(rename[2].toLowerCase(), table);
  }

  get(name: string): CaseTable | undefined {
    return this.tables.get(name.toLowerCase());
  }

  /** The known tables whose names occur in a statement. */
  namedIn(statement: string): CaseTable[] {
    const words = new Set(statement.toLowerCase().match(/\w+/g) ?? []);
    return [...this.tables].filter(([name]) => words.has(name)).map(([, table]) => table);
  }
}

function describe(definition: string): CaseTable {
  const partitioned = /\bpartitioned\s+by\s*\(/i.exec(definition);
  const list =
    partitioned === null ? '' : insideParentheses(definition.slice(partitioned.index + partitioned[0].length));
  const partitionColumns = splitTopLevel(list)
    .map((column) => (/^`?(\w+)`?/.exec(column)?.[1] ?? '').toLowerCase())
    .filter((name) => name !== '');
  const bucketed = /\bclustered\s+by\s*\([^)]*\)\s*(?:sorted\s+by\s*\([^)]*\)\s*)?into\b/i.test(definition);
  return { bucketed, partitionColumns };
}

/** The text up to the parenthesis that closes one opened before it. */
function insideParentheses(text: string): string {
  let depth = 1;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')' && --depth === 0) return text.slice(0, i);
  }
  return text;
}
