import { SkepError } from '@skep/core';

/** Something that a computation needs from outside, to be had at once or later. */
export class Ask<T = unknown> {
  constructor(
    readonly atOnce: () => T,
    readonly later: () => Promise<T>,
  ) {}
}

/**
 * A computation that does no I/O itself: it yields what it asks for and is resumed with the answer, and hands out items on the
 * way. One computation serves callers that cannot wait (a query engine's callbacks) and those that can.
 */
export type Steps<Item, Result = void> = Generator<Ask | Item, Result, unknown>;

/** Asks, with the type of the answer kept. */
export function* ask<T>(atOnce: () => T, later: () => Promise<T>): Generator<Ask, T, unknown> {
  return (yield new Ask<T>(atOnce, later) as Ask) as T;
}

/** A file system that answers later was asked by someone who cannot wait. */
export class MustWaitError extends SkepError {
  constructor(path: string) {
    super('MUST_WAIT', 'invalid', `${path} cannot be read without waiting: its file system answers later`);
  }
}

/** Other items in the place of each item. */
export function* mapSteps<Item extends object, Other>(
  steps: Steps<Item>,
  each: (item: Item) => Steps<Other>,
): Steps<Other> {
  try {
    let step = steps.next();
    while (!step.done) {
      if (step.value instanceof Ask) {
        let answer: unknown;
        try {
          answer = yield step.value;
        } catch (cause) {
          step = steps.throw(cause);
          continue;
        }
        step = steps.next(answer);
      } else {
        yield* each(step.value);
        step = steps.next();
      }
    }
  } finally {
    steps.return();
  }
}

/** Items at once. */
export function* runSync<Item extends object>(steps: Steps<Item>): Generator<Item> {
  try {
    let step = steps.next();
    while (!step.done) {
      if (step.value instanceof Ask) step = answerSync(steps, step.value);
      else {
        yield step.value;
        step = steps.next();
      }
    }
  } finally {
    // The reader may stop early: open files are closed in the computation's finally.
    steps.return();
  }
}

/** Items as they come. */
export async function* runAsync<Item extends object>(steps: Steps<Item>): AsyncGenerator<Item> {
  try {
    let step = steps.next();
    while (!step.done) {
      if (step.value instanceof Ask) step = await answerLater(steps, step.value);
      else {
        yield step.value;
        step = steps.next();
      }
    }
  } finally {
    steps.return();
  }
}

/** The result of a computation that hands out nothing. */
export async function resultAsync<Result>(steps: Steps<never, Result>): Promise<Result> {
  let step = steps.next();
  while (!step.done) step = await answerLater(steps, step.value);
  return step.value;
}

function answerSync<Item, Result>(steps: Steps<Item, Result>, question: Ask): IteratorResult<Ask | Item, Result> {
  let answer: unknown;
  try {
    answer = question.atOnce();
  } catch (cause) {
    return steps.throw(cause);
  }
  return steps.next(answer);
}

async function answerLater<Item, Result>(
  steps: Steps<Item, Result>,
  question: Ask,
): Promise<IteratorResult<Ask | Item, Result>> {
  let answer: unknown;
  try {
    answer = await question.later();
  } catch (cause) {
    return steps.throw(cause);
  }
  return steps.next(answer);
}
