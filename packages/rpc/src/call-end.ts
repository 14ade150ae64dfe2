import type { CallEndedError } from './errors.js';

/** Whether and why a call has ended early. Most calls never ask for the signal, which costs more than all else here. */
export class CallEnd {
  private reason: CallEndedError | undefined;
  private control: AbortController | undefined;

  get signal(): AbortSignal {
    if (this.control === undefined) {
      this.control = new AbortController();
      if (this.reason !== undefined) this.control.abort(this.reason);
    }
    return this.control.signal;
  }

  abort(reason: CallEndedError): void {
    this.reason ??= reason;
    this.control?.abort(this.reason);
  }

  throwIfAborted(): void {
    if (this.reason !== undefined) throw this.reason;
  }
}
