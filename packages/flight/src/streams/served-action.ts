import type { Caller } from './data-source.js';

/** An action that whoever serves Flight offers beside those of tables. Its body and answers are its own: bytes here. */
export interface ServedAction {
  readonly type: string;
  /** For ListActions: what it does, its body, its answers. */
  readonly description: string;
  /** Bodies of Results, in a stream. */
  run(body: Uint8Array, caller: Caller): AsyncIterable<Uint8Array>;
}
