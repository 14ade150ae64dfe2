import type { Clock } from '@skep/core';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { FigureSource, Sample } from './figure.js';

/**
 * What a process measures, in Prometheus's text. Sources are asked when somebody scrapes, but no more often than
 * `minAgeMs`: their figures are queries. A source that fails keeps its last values and is counted in
 * `skep_figures_failures_total`.
 */
export class Metrics {
  readonly registry = new Registry();
  private readonly gauges = new Map<string, Gauge>();
  private readonly sources: Gathered[] = [];
  private readonly failures: Counter;

  constructor(private readonly clock: Clock) {
    this.failures = new Counter({
      name: 'skep_figures_failures_total',
      help: 'How often figures could not be read, by source.',
      labelNames: ['source'],
      registers: [this.registry],
    });
    collectDefaultMetrics({ register: this.registry });
  }

  /** `onFailure` hears of each reading that failed. */
  add(source: FigureSource, minAgeMs: number, onFailure: (error: unknown) => void): void {
    for (const { name, help, type, labels = [] } of source.figures) {
      const gauge = new Gauge({ name, help, labelNames: [...labels], registers: [this.registry] });
      // Counted elsewhere (in a database, in another process): prom-client's Counter could only be added to.
      if (type === 'counter') Object.assign(gauge, { type: 'counter' });
      this.gauges.set(name, gauge);
    }
    this.sources.push({ source, minAgeMs, onFailure, readAt: Number.NEGATIVE_INFINITY, reading: undefined });
  }

  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

  async text(): Promise<string> {
    await Promise.all(this.sources.map((gathered) => this.refresh(gathered)));
    return await this.registry.metrics();
  }

  /** Two scrapes at once share one reading. */
  private refresh(gathered: Gathered): Promise<void> {
    if (gathered.reading !== undefined) return gathered.reading;
    const now = this.clock.now();
    if (now - gathered.readAt < gathered.minAgeMs) return Promise.resolve();
    const { source, onFailure } = gathered;
    gathered.reading = source
      .read()
      .then((readings) => {
        gathered.readAt = now;
        for (const [{ name }, samples] of readings) this.set(source, name, samples);
      })
      .catch((error: unknown) => {
        this.failures.inc({ source: source.name });
        onFailure(error);
      })
      .finally(() => {
        gathered.reading = undefined;
      });
    return gathered.reading;
  }

  private set(source: FigureSource, name: string, samples: readonly Sample[]): void {
    const gauge = this.gauges.get(name);
    if (gauge === undefined) throw new TypeError(`${source.name} gave a figure ${name} that it has not declared`);
    // What is gone (a pool, a table) goes from the text too.
    gauge.reset();
    for (const { labels = {}, value } of samples) gauge.set({ ...labels }, value);
  }
}

interface Gathered {
  readonly source: FigureSource;
  readonly minAgeMs: number;
  readonly onFailure: (error: unknown) => void;
  readAt: number;
  reading: Promise<void> | undefined;
}
