/**
 * Waits for all, also when one fails, and then throws the first failure: nothing is still under way afterwards. For writes to
 * disk that may go on side by side, so that their fsyncs share a commit of the journal.
 */
export async function allDone<T>(work: Iterable<Promise<T>>): Promise<T[]> {
  const outcomes = await Promise.allSettled(work);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}
