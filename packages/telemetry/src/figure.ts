/** One value of a figure; labels tell values of one name apart. */
export interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A figure with what it counts, as Prometheus shows it. */
export interface Figure {
  /** Hive's name of the metric where it has one (MetricsConstants). */
  readonly name: string;
  readonly help: string;
  /** A counter only grows while its source lives; a gauge is what it is now. */
  readonly type: 'gauge' | 'counter';
  readonly labels?: readonly string[];
}

/** A figure's present values. Labels that are no longer given are no longer shown; a figure without labels and values is 0. */
export type Reading = readonly [figure: Figure, samples: readonly Sample[]];

/** Figures that are read together, in one or two queries: those of one service. */
export interface FigureSource {
  /** Of what: `transactions`, `locks` …; the label of its failures. */
  readonly name: string;
  readonly figures: readonly Figure[];
  read(): Promise<readonly Reading[]>;
}

/** A figure that is what it is now. */
export const gauge = (name: string, help: string, labels: readonly string[] = []): Figure => ({
  name,
  help,
  type: 'gauge',
  labels,
});

/** A figure that only grows while its source lives. */
export const counter = (name: string, help: string, labels: readonly string[] = []): Figure => ({
  name,
  help,
  type: 'counter',
  labels,
});

/** The value of a figure without labels. */
export const one = (figure: Figure, value: number): Reading => [figure, [{ value }]];
