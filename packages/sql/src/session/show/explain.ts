import type { Table } from '@skep/rpc';
import type { ExplainStatement, Statement } from '../../parse/ast.js';
import type { TableUse } from '../../query.js';
import type { SessionContext } from '../context.js';
import { UnsupportedError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { type PreparedScan, prepareScan } from '../scan/table-scan.js';
import { textResult } from '../text-result.js';
import { runStatement } from '../transaction/run-statement.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { authorizationLines, dependencyJson, linesOfLocks, lockLines } from './explain-entities.js';
import { locksOfLooking } from './explain-looks.js';
import { type ExplainedPlan, type ExplainedQuery, explainedPlan, hasPlan } from './explain-plan.js';
import { factLines, type ScanFacts, scanFacts } from './explain-scan.js';

/** The forms that say something of this engine; each stands alone but for FORMATTED and EXTENDED. */
const FORMS: ReadonlySet<string> = new Set([
  'extended',
  'formatted',
  'analyze',
  'dependency',
  'locks',
  'authorization',
]);

/** Statements without a plan of their own that ask for locks in the one way (run-statement.ts). */
const LOCKING: ReadonlySet<Statement['kind']> = new Set([
  'create-table',
  'create-view',
  'create-materialized-view',
  'alter-table',
  'alter-view',
  'drop-table',
  'drop-view',
  'drop-materialized-view',
  'drop-database',
  'truncate',
  'load',
  'msck',
  'analyze',
]);

/** Statements that ask for no locks, as they look at a definition only or leave a request to others (ALTER TABLE … COMPACT). */
const locksNothing = (statement: Statement): boolean =>
  !LOCKING.has(statement.kind) ||
  (statement.kind === 'alter-table' && ['compact', 'concatenate', 'touch'].includes(statement.action.kind));

/**
 * EXPLAIN: Hive's sections (stages and their plans), with what this engine does in them: the folders, files and delete
 * files a scan reads, partitions it leaves out, the search argument it gives to ORC, and the rows that are skipped for it. ANALYZE
 * runs the query (of a statement that writes: without writing) and says what was read.
 */
export async function explain(
  context: SessionContext,
  statement: ExplainStatement,
  text: string,
  signal: AbortSignal | undefined,
  run: (context: SessionContext) => Promise<StatementResult>,
): Promise<StatementResult> {
  const explained = statement.statement;
  const refused = statement.mode.find((mode) => !FORMS.has(mode));
  if (refused !== undefined)
    throw new UnsupportedError(`EXPLAIN ${refused.toUpperCase()} (a view of Hive's own planner)`);
  const has = (mode: string) => statement.mode.includes(mode);
  if (!hasPlan(explained)) {
    if (has('locks') && explained.kind !== 'unsupported') {
      if (locksNothing(explained)) return answer(linesOfLocks(await locksOfLooking(context, explained)));
      const onlyLocks: SessionContext['onlyLocks'] = (locks) => answer(linesOfLocks(locks));
      const result = await run({ ...context, transaction: undefined, onlyLocks });
      return result.batches === undefined ? answer(linesOfLocks([])) : result;
    }
    const form = ['analyze', 'dependency', 'locks', 'authorization'].find(has);
    if (form !== undefined) {
      throw new UnsupportedError(`EXPLAIN ${form.toUpperCase()} of other statements than queries and DML`);
    }
    return has('formatted')
      ? answer([JSON.stringify(planJson({ [explained.kind]: {} }))])
      : answer([...stages, `    ${explained.kind}`, '']);
  }
  return await runStatement(
    context,
    async () => {
      const plan = await explainedPlan(context, explained, text);
      // No locks: nothing but the snapshot is looked at. With ANALYZE the query is run as a reader.
      return {
        reads: has('analyze') ? plan.reads : [],
        writes: [],
        run: async (transaction) => {
          if (has('locks')) return answer(lockLines(context, plan));
          if (has('dependency')) return answer([dependencyJson(plan)]);
          if (has('authorization')) return answer(authorizationLines(context, plan));
          return answer(await planLines(context, transaction, plan, statement.mode, signal));
        },
      };
    },
    { signal },
  );
}

const answer = (lines: readonly string[]): StatementResult =>
  textResult(
    ['Explain'],
    lines.map((line) => [line]),
  );

const stages = ['STAGE DEPENDENCIES:', '  Stage-0 is a root stage', '', 'STAGE PLANS:', '  Stage: Stage-0'];

const planJson = (stage: object): object => ({
  'STAGE DEPENDENCIES': { 'Stage-0': { 'ROOT STAGE': 'TRUE' } },
  'STAGE PLANS': { 'Stage-0': stage },
});

interface ExplainedRows {
  readonly query: ExplainedQuery;
  readonly scans: readonly ScanFacts[];
  /** ANALYZE: how many rows the query answered. */
  readonly rows: number | undefined;
}

async function planLines(
  context: SessionContext,
  transaction: StatementTransaction,
  plan: ExplainedPlan,
  mode: readonly string[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const queries: ExplainedRows[] = [];
  for (const query of plan.queries) queries.push(await explainQuery(context, transaction, query, mode, signal));
  if (mode.includes('formatted')) {
    const operators = queries.map(jsonOf);
    return [JSON.stringify(planJson(operators.length === 1 ? operators[0] : { queries: operators }))];
  }
  return [...stages, ...queries.flatMap(textOf), ''];
}

async function explainQuery(
  context: SessionContext,
  transaction: StatementTransaction,
  query: ExplainedQuery,
  mode: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ExplainedRows> {
  const { analyzed } = query.analysis;
  const all = mode.includes('extended');
  const open = async (use: TableUse, columns: readonly string[]): Promise<PreparedScan> =>
    await prepareScan(context, transaction, use.handle as Table, use.predicate, columns);
  const scans = new Map<TableUse, PreparedScan>();
  if (!mode.includes('analyze')) {
    for (const use of analyzed.tables) scans.set(use, await open(use, []));
    return { query, scans: [...scans].map(([use, scan]) => scanFacts(use, scan, { all })), rows: undefined };
  }
  const openTable = async (use: TableUse): Promise<PreparedScan> => {
    const columns = use.columns.map((column) => column.name);
    const scan = await open(use, columns);
    scans.set(use, scan);
    return scan;
  };
  let rows = 0;
  const result = await context.engine.run(analyzed, { openTable, signal });
  for await (const batch of result.batches) rows += batch.length;
  const facts = [...scans].map(([use, scan]) => scanFacts(use, scan, { all, actual: scan.counts }));
  return { query, scans: facts, rows };
}

function textOf({ query: { analysis, target }, scans, rows }: ExplainedRows): string[] {
  return [
    ...(target === undefined ? ['    Fetch Operator', '      limit: -1'] : [`    ${target}`]),
    '      Processor Tree:',
    ...scans.flatMap((facts) => ['        TableScan', ...factLines(facts)]),
    '        Select Operator',
    `          expressions: ${expressionsOf(analysis)}`,
    ...(rows === undefined ? [] : [`          rows: ${rows} answered`]),
    '          ListSink',
  ];
}

function jsonOf({ query: { analysis, target }, scans, rows }: ExplainedRows): object {
  return {
    [target ?? 'Fetch Operator']: {
      'Processor Tree:': [
        ...scans.map((facts) => ({ TableScan: facts })),
        { 'Select Operator': { expressions: expressionsOf(analysis), ...(rows === undefined ? {} : { rows }) } },
      ],
    },
  };
}

const expressionsOf = ({ columns }: ExplainedQuery['analysis']): string =>
  columns.map((column) => `${column.name} (type: ${column.type})`).join(', ');
