/** Work that ends with somebody else's signal, or by itself. */
export interface LinkedAbort {
  /** Aborted with the other signal and its reason, or by `abort`. */
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Listens to the other signal no longer, which may outlive many such works: AbortSignal.any would stay with it. */
  release(): void;
}

/** An abort of its own that follows `outer`, where there is one, until it is released. */
export function linkedAbort(outer: AbortSignal | undefined): LinkedAbort {
  const control = new AbortController();
  const end = () => control.abort(outer?.reason);
  if (outer?.aborted) end();
  outer?.addEventListener('abort', end, { once: true });
  return {
    signal: control.signal,
    abort: (reason) => control.abort(reason),
    release: () => outer?.removeEventListener('abort', end),
  };
}
