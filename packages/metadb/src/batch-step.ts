import type { Settled } from './batcher.js';
import type { Row, Statement, Tx } from './database.js';

/** Rows that several kinds of requests need: one statement looks for what all of a batch want. */
export interface Lookup<W> {
  queries(tx: Tx, wanted: readonly W[]): readonly Statement[];
}

/** What a step looks for. */
export interface Wanted {
  readonly lookup: Lookup<unknown>;
  readonly wanted: readonly unknown[];
}

export function want<W>(lookup: Lookup<W>, wanted: readonly W[]): Wanted {
  return { lookup, wanted };
}

/** What was found: of lookups also what other steps of the batch wanted. */
export interface Answers {
  of<W>(lookup: Lookup<W>): readonly Row[][];
  /** Parallel to the step's own queries. */
  readonly own: readonly Row[][];
}

/** What follows from the answers, and ends the database transaction. */
export interface Writes<A> {
  /**
   * Come before everything that is inserted: a deletion may look at rows on its way, and wait for those that another process
   * inserts, which must not wait for us by then.
   */
  readonly removals?: readonly Statement[];
  readonly statements?: readonly Statement[];
  /** Those after which others wait until the commit. Queries among them are answered to `outcomes`. */
  readonly last?: readonly Statement[];
  /** How each request ended, in their order, once all is committed. `answers`: parallel to `last`. */
  outcomes(answers: readonly Row[][]): readonly Settled<A>[];
}

/** How requests of one kind are carried out: they read, with others in one round trip to a server; then they write, likewise. */
export interface Step<A> {
  readonly lookups?: readonly Wanted[];
  readonly queries?: readonly Statement[];
  decide(answers: Answers, tx: Tx): Writes<A> | Promise<Writes<A>>;
}

/** Makes the outcomes of a step, after the commit. */
export type Finish = () => readonly Settled<unknown>[];

/** Carries out steps in one database transaction, of which this is all; their writes in the order given. */
export async function carryOutSteps(tx: Tx, steps: readonly Step<unknown>[]): Promise<Finish[]> {
  const answers = await ask(tx, steps);
  const writes: Writes<unknown>[] = [];
  for (const [i, step] of steps.entries()) writes.push(await step.decide(answers[i], tx));
  const before = [
    ...writes.flatMap(({ removals = [] }) => removals),
    ...writes.flatMap(({ statements = [] }) => statements),
  ];
  const last = writes.map((one) => one.last ?? []);
  const results = await tx.runLast([...before, ...last.flat()]);
  let at = before.length;
  return writes.map((one, i) => {
    const own = results.slice(at, at + last[i].length);
    at += last[i].length;
    return () => one.outcomes(own);
  });
}

/** The same of one step; its outcomes are true once the transaction is committed. */
export async function carryOutStep<A>(tx: Tx, step: Step<A>): Promise<readonly Settled<A>[]> {
  const [finish] = await carryOutSteps(tx, [step]);
  return finish() as readonly Settled<A>[];
}

async function ask(tx: Tx, steps: readonly Step<unknown>[]): Promise<Answers[]> {
  const wanted = new Map<Lookup<unknown>, unknown[]>();
  for (const { lookup, wanted: some } of steps.flatMap(({ lookups = [] }) => lookups)) {
    const all = wanted.get(lookup);
    if (all === undefined) wanted.set(lookup, [...some]);
    else all.push(...some);
  }
  const lookups = [...wanted].map(([lookup, all]) => ({ lookup, queries: lookup.queries(tx, all) }));
  const own = steps.map(({ queries = [] }) => queries);
  const rows = await tx.allOf([...lookups.flatMap(({ queries }) => queries), ...own.flat()]);
  const found = new Map<Lookup<unknown>, Row[][]>();
  for (const { lookup, queries } of lookups) found.set(lookup, rows.splice(0, queries.length));
  return own.map((queries) => ({
    of: (lookup) => found.get(lookup as Lookup<unknown>) ?? [],
    own: rows.splice(0, queries.length),
  }));
}
