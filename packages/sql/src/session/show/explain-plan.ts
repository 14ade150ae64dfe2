import type { Statement } from '../../parse/ast.js';
import type { SessionContext } from '../context.js';
import { planInserts } from '../dml/insert.js';
import { planMerge, writeEntities } from '../dml/merge.js';
import { entities, planDelete, planUpdate } from '../dml/update-delete.js';
import { analyzeInSession, type SessionAnalysis } from '../scan/select.js';
import type { ReadEntity, WriteEntity } from '../transaction/lock-plan.js';

/** One query of a statement, and what is done with its rows; `target` is absent where they are the answer. */
export interface ExplainedQuery {
  readonly analysis: SessionAnalysis;
  readonly target?: string;
}

/** What a statement would do. */
export interface ExplainedPlan {
  /** Hive's name of the operation (HiveOperation). */
  readonly operation: string;
  readonly queries: readonly ExplainedQuery[];
  readonly reads: readonly ReadEntity[];
  readonly writes: readonly WriteEntity[];
}

export type PlannedKind = Extract<
  Statement,
  { kind: 'query' | 'insert' | 'multi-insert' | 'update' | 'delete' | 'merge' }
>;

export const hasPlan = (statement: Statement): statement is PlannedKind =>
  ['query', 'insert', 'multi-insert', 'update', 'delete', 'merge'].includes(statement.kind);

/** The queries behind a statement, and what it reads and writes: planned as the statement itself is, without running it. */
export async function explainedPlan(
  context: SessionContext,
  statement: PlannedKind,
  text: string,
): Promise<ExplainedPlan> {
  switch (statement.kind) {
    case 'query': {
      const analysis = await analyzeInSession(context, statement, text);
      return { operation: 'QUERY', queries: [{ analysis }], reads: analysis.reads, writes: [] };
    }
    case 'insert':
    case 'multi-insert': {
      const legs = await planInserts(context, statement, text);
      return {
        operation: 'QUERY',
        queries: legs.map(({ analysis, write }) => ({ analysis, target: `${verbOf(write)} ${nameOfTable(write)}` })),
        reads: legs.flatMap(({ analysis }) => analysis.reads),
        writes: legs.map(({ write }) => write),
      };
    }
    case 'update': {
      const { table, analysis } = await planUpdate(context, statement, text);
      const { reads, writes } = entities(table, analysis, 'update');
      return {
        operation: 'QUERY',
        queries: [{ analysis, target: `Update of ${table.database}.${table.name}` }],
        reads,
        writes,
      };
    }
    case 'delete': {
      const { table, analysis } = await planDelete(context, statement, text);
      const name = `${table.database}.${table.name}`;
      // DELETE without WHERE leaves an empty base (truncate.ts).
      if (statement.where === undefined) {
        const target = `Delete of ${name} (all rows: an empty base, as TRUNCATE)`;
        return {
          operation: 'QUERY',
          queries: [{ analysis, target }],
          reads: [],
          writes: [{ table, kind: 'truncate' }],
        };
      }
      const { reads, writes } = entities(table, analysis, 'delete');
      return { operation: 'QUERY', queries: [{ analysis, target: `Delete of ${name}` }], reads, writes };
    }
    case 'merge': {
      const { table, analysis } = await planMerge(context, statement, text);
      return {
        operation: 'QUERY',
        queries: [{ analysis, target: `Merge of ${table.database}.${table.name}` }],
        reads: analysis.reads,
        writes: writeEntities(table, analysis, statement.clauses),
      };
    }
  }
}

const verbOf = ({ kind }: WriteEntity): string => (kind === 'insert-overwrite' ? 'Insert overwrite of' : 'Insert into');

function nameOfTable({ table, partitions, dynamicPartitions }: WriteEntity): string {
  const name = `${table.database}.${table.name}`;
  if (dynamicPartitions) return `${name}, partitions by the rows`;
  return partitions === undefined ? name : `${name}, partition ${partitions.join(', ')}`;
}
