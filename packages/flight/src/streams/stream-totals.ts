/** What went over the streams of one direction since the start, and how many are open. */
export class StreamTotals {
  open = 0;
  rows = 0;
  bytes = 0;

  /** Counts a stream as long as it lasts. */
  async *during<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    this.open++;
    try {
      yield* items;
    } finally {
      this.open--;
    }
  }
}

/** Of a Flight service: DoGet and DoPut. */
export interface FlightTotals {
  readonly sent: StreamTotals;
  readonly received: StreamTotals;
}

export const flightTotals = (): FlightTotals => ({ sent: new StreamTotals(), received: new StreamTotals() });
