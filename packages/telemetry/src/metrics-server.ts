import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SkepError } from '@skep/core';
import type { Metrics } from './figures.js';

export interface MetricsServer {
  /** HOST:PORT it listens on. */
  readonly address: string;
  close(): Promise<void>;
}

class MetricsAddressError extends SkepError {
  constructor(address: string, why: string, cause?: unknown) {
    super('METRICS_ADDRESS', 'invalid', `cannot serve metrics on ${address}: ${why}`, { cause });
  }
}

/** Answers GET /metrics in Prometheus's text, and 404 to the rest. Port 0 takes a free one. */
export async function serveMetrics(metrics: Metrics, address: string): Promise<MetricsServer> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(at + 1));
  if (at <= 0 || !Number.isInteger(port) || port < 0 || port > 65535) {
    throw new MetricsAddressError(address, 'it is not HOST:PORT');
  }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://here');
    if (pathname !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('GET /metrics\n');
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(error)}\n`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(new MetricsAddressError(address, cause.message, cause)));
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    address: `${address.slice(0, at)}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
