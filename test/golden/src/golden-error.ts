/** A recording or an argument that the runner cannot work with. */
export class GoldenError extends Error {
  override readonly name = 'GoldenError';
}

/** One line for people, with the chain of causes. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at !== undefined && at !== null && parts.length < 5; ) {
    parts.push(at instanceof Error ? `${at.name}: ${at.message}` : String(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return parts.join(' <- ');
}
