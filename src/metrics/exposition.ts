// GET /metrics, and nothing else: what the metrics listener answers.
import type { HttpHandler } from '../gateways/http/exchange.js';
import { notFound, problemReply } from '../gateways/http/problem.js';
import type { Metrics } from './metrics.js';

export function exposition(metrics: Metrics): HttpHandler {
  return async ({ method, path }) => {
    if (path !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) return problemReply(notFound());
    const headers = [
      ['Content-Type', metrics.contentType],
      ['Cache-Control', 'no-store'],
    ] as const;
    return { status: 200, headers, body: Buffer.from(await metrics.text()) };
  };
}
