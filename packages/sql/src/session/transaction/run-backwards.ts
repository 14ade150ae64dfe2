export type Action = () => Promise<void>;

/** All of them, even if one fails; the first failure is thrown. */
export async function runBackwards(actions: readonly Action[]): Promise<void> {
  const failures: unknown[] = [];
  for (const action of [...actions].reverse()) await action().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
