export { callMetrics, type ServedCall } from './call-metrics.js';
export type { Figure, FigureSource, Reading, Sample } from './figure.js';
export * from './figures.js';
export * from './log.js';
export { type MetricsServer, serveMetrics } from './metrics-server.js';
