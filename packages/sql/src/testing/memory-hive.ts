import { type AppendableValue, nullVector, type StructVector, vectorOf } from '@skep/orc';
import { parseStatement, type Query, type Statement } from '../parse/index.js';
import {
  type AnalyzedQuery,
  analyzeQuery,
  BIGINT,
  BOOLEAN,
  type ColumnInfo,
  castColumns,
  formatRow,
  QueryEngine,
  ROW_ID_TYPE,
  STRING,
  type TableSource,
  toTypeDescription,
  typeName,
  typeOfNode,
} from '../query.js';

interface MemoryTable {
  readonly columns: readonly ColumnInfo[];
  readonly batches: StructVector[];
}

export interface MemoryAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  readonly ordered: boolean;
}

const VIRTUAL: readonly ColumnInfo[] = [
  { name: 'row__id', type: ROW_ID_TYPE, virtual: true },
  { name: 'row__is__deleted', type: BOOLEAN, virtual: true },
  { name: 'input__file__name', type: STRING, virtual: true },
  { name: 'block__offset__inside__file', type: BIGINT, virtual: true },
];

/** For tests: CREATE TABLE, INSERT … SELECT | VALUES and queries over tables in memory. */
export class MemoryHive {
  readonly engine = new QueryEngine();
  readonly tables = new Map<string, MemoryTable>();

  constructor(
    readonly database: string,
    private readonly conf: (name: string) => string | undefined = () => undefined,
  ) {}

  /** undefined: the statement is not one of those. */
  async execute(text: string): Promise<MemoryAnswer | 'done' | undefined> {
    const statement: Statement = parseStatement(text);
    switch (statement.kind) {
      case 'create-table': {
        if (statement.query !== undefined) return undefined;
        const columns = [...statement.columns, ...(statement.partitionedBy ?? [])].map((column): ColumnInfo => {
          if (column.type === undefined) throw new TypeError('a column without a type');
          return { name: column.name.name.toLowerCase(), type: typeOfNode(column.type) };
        });
        this.tables.set(statement.table.name.name.toLowerCase(), { columns: [...columns, ...VIRTUAL], batches: [] });
        return 'done';
      }
      case 'insert': {
        if (statement.target.kind !== 'table' || statement.target.partition !== undefined) return undefined;
        const table = this.tables.get(statement.target.table.name.name.toLowerCase());
        if (table === undefined) return undefined;
        await this.insert(
          table,
          statement.target.columns?.map((c) => c.name.toLowerCase()),
          statement.query,
          text,
        );
        return 'done';
      }
      case 'query': {
        const analyzed = await this.analyze(statement, text);
        const types = analyzed.columns.map((column) => column.type);
        const rows: string[] = [];
        for await (const batch of await this.run(analyzed)) {
          for (let row = 0; row < batch.length; row++) rows.push(formatRow(types, batch, row));
        }
        const columns = analyzed.columns.map((column) => `${column.name}:${typeName(column.type)}`);
        return { columns, rows, ordered: analyzed.ordered };
      }
      default:
        return undefined;
    }
  }

  async analyze(query: Query, text: string): Promise<AnalyzedQuery> {
    return await analyzeQuery(query, {
      currentDatabase: this.database,
      text,
      now: Date.UTC(2024, 4, 6, 7, 8, 9),
      conf: this.conf,
      resolveTable: (database, name) => {
        const table = database === undefined || database === this.database ? this.tables.get(name) : undefined;
        if (table === undefined) return undefined;
        return { kind: 'table', database: this.database, name, columns: table.columns, handle: table };
      },
    });
  }

  async run(analyzed: AnalyzedQuery): Promise<AsyncIterable<StructVector>> {
    const result = await this.engine.run(analyzed, { openTable: (use) => memorySource(use.handle as MemoryTable) });
    return result.batches;
  }

  private async insert(
    table: MemoryTable,
    names: readonly string[] | undefined,
    query: Query,
    text: string,
  ): Promise<void> {
    const columns = table.columns.filter((column) => column.virtual !== true);
    const targets = names === undefined ? columns : names.map((name) => find(columns, name));
    const analyzed = castColumns(
      await this.analyze(query, text),
      targets.map((column) => column.type),
    );
    for await (const batch of await this.run(analyzed)) {
      const children = columns.map((column) => {
        const at = targets.indexOf(column);
        return at < 0 ? nullVector(toTypeDescription(column.type), batch.length) : batch.children[at];
      });
      table.batches.push({ ...batch, fieldNames: columns.map((column) => column.name), children });
    }
  }
}

const find = (columns: readonly ColumnInfo[], name: string): ColumnInfo => {
  const found = columns.find((column) => column.name === name);
  if (found === undefined) throw new TypeError(`no column ${name}`);
  return found;
};

/** Virtual columns have one value: tables in memory have no files. */
const VALUES: Readonly<Record<string, AppendableValue>> = {
  row__is__deleted: false,
  input__file__name: 'memory',
  block__offset__inside__file: 0n,
};
const virtualVector = ({ name, type }: ColumnInfo, length: number) =>
  vectorOf(toTypeDescription(type), new Array<AppendableValue>(length).fill(VALUES[name] ?? null));

function memorySource(table: MemoryTable): TableSource {
  const total = table.batches.reduce((sum, batch) => sum + batch.length, 0);
  return {
    estimatedRows: total,
    scan({ columns }) {
      let next = 0;
      return {
        next() {
          const batch = table.batches[next++];
          if (batch === undefined) return undefined;
          const vectors = columns.map((name) => {
            const at = batch.fieldNames.indexOf(name);
            return at < 0 ? virtualVector(find(table.columns, name), batch.length) : batch.children[at];
          });
          return { length: batch.length, columns: vectors };
        },
      };
    },
  };
}
