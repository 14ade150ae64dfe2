import { carryOutSteps, type Finish, type Step } from './batch-step.js';
import type { Settled } from './batcher.js';
import type { Database, Tx } from './database.js';
import { DatabaseError } from './errors.js';

/** Requests of one kind in a batch. */
export interface Part {
  readonly rank: number;
  begin(tx: Tx): Promise<Step<unknown>>;
  isDurable(): Promise<boolean>;
  settle(outcomes: readonly Settled<unknown>[]): void;
  reject(error: unknown): void;
  /** Each request by itself. */
  split(): Part[];
}

/** Carries out the parts in one database transaction; where that fails, each request in one of its own. Never rejects. */
export async function carryOutParts(db: Database, parts: readonly Part[]): Promise<void> {
  let finishes: readonly Finish[];
  try {
    const durable = db.dialect.name === 'mysql' || (await areDurable(parts));
    finishes = await db.transaction(
      async (tx) => {
        const steps: Step<unknown>[] = [];
        for (const part of parts) steps.push(await part.begin(tx));
        return await carryOutSteps(tx, steps);
      },
      { durable },
    );
  } catch (error) {
    const alone = parts.flatMap((part) => part.split());
    if (alone.length > 1 && mayBeOfOne(error)) await Promise.all(alone.map((part) => carryOutParts(db, [part])));
    else for (const part of parts) part.reject(error);
    return;
  }
  for (const [i, part] of parts.entries()) {
    try {
      part.settle(finishes[i]());
    } catch (error) {
      part.reject(error);
    }
  }
}

async function areDurable(parts: readonly Part[]): Promise<boolean> {
  for (const part of parts) if (await part.isDurable()) return true;
  return false;
}

/** Whether one request may have failed the whole batch: a row kept locked, a value that does not fit, a bug. */
function mayBeOfOne(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return true;
  switch (error.code) {
    case 'DATABASE_LOCKED':
    case 'DATABASE_VALUE':
    case 'DATABASE_CONSTRAINT':
    case 'DATABASE_STATEMENT':
      return true;
    default:
      return false;
  }
}
