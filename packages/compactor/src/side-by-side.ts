/**
 * Works on all of them, so many at a time (hive.compactor.cleaner.threads.num, hive.compactor.request.queue), and what has the
 * same key one after the other. Ends when all that was begun has ended; then the first failure is thrown.
 */
export async function sideBySide<T>(
  items: readonly T[],
  atATime: number,
  keyOf: (item: T) => string,
  work: (item: T) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const lines = new Map<string, T[]>();
  for (const item of items) lines.set(keyOf(item), [...(lines.get(keyOf(item)) ?? []), item]);
  const waiting = [...lines.values()];
  const failures: unknown[] = [];
  const one = async (): Promise<void> => {
    for (let line = waiting.shift(); line !== undefined && failures.length === 0; line = waiting.shift()) {
      for (const item of line) {
        signal?.throwIfAborted();
        await work(item);
      }
    }
  };
  const count = Math.min(Math.max(1, atATime), waiting.length);
  await Promise.all(Array.from({ length: count }, () => one().catch((error: unknown) => void failures.push(error))));
  if (failures.length > 0) throw failures[0];
}
