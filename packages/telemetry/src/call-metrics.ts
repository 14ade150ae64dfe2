import { Counter, Histogram } from 'prom-client';
import type { Metrics } from './figures.js';

/** One call that was served (CallRecord of @skep/rpc). */
export interface ServedCall {
  readonly method: string;
  readonly code: string;
  readonly durationMs: number;
  readonly queuedMs: number;
  /** It mostly waited for something to happen. */
  readonly isWait?: boolean;
}

/** From a database row's change to a lock that is waited for. */
const BUCKETS_S = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts the calls a process serves, by method and outcome, with their durations. */
export function callMetrics(metrics: Metrics): (call: ServedCall) => void {
  const registers = [metrics.registry];
  const calls = new Counter({
    name: 'skep_calls_total',
    help: 'Calls served, by method and code (OK, or the error’s).',
    labelNames: ['method', 'code'],
    registers,
  });
  const duration = new Histogram({
    name: 'skep_call_duration_seconds',
    help: 'How long calls took, waiting for their turn included.',
    labelNames: ['method'],
    buckets: BUCKETS_S,
    registers,
  });
  const queued = new Histogram({
    name: 'skep_call_queued_seconds',
    help: 'How long calls waited for their turn.',
    labelNames: ['method'],
    buckets: BUCKETS_S,
    registers,
  });
  return ({ method, code, durationMs, queuedMs, isWait }) => {
    calls.inc({ method, code });
    // How long nothing happened says nothing of how the server does.
    if (isWait === true) return;
    duration.observe({ method }, durationMs / 1000);
    queued.observe({ method }, queuedMs / 1000);
  };
}
