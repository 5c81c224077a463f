// Answers GET /metrics, and GET /healthz on nodes without HTTP for clients.
import type { HttpHandler, HttpReply } from '../../gateways/http/exchange.js';
import type { HealthReport } from '../../gateways/http/health.js';
import { notFound, problemReply } from '../../gateways/http/problem.js';
import type { Metrics } from './metrics.js';

const FRESH = ['Cache-Control', 'no-store'] as const;

/** `health`: absent where another listener answers /healthz. */
export function exposition(
  metrics: Pick<Metrics, 'contentType' | 'text'>,
  health?: () => Promise<HealthReport>,
): HttpHandler {
  return async ({ method, path }): Promise<HttpReply> => {
    if (method !== 'GET' && method !== 'HEAD') return problemReply(notFound());
    if (path === '/metrics') {
      const headers = [['Content-Type', metrics.contentType], FRESH] as const;
      return { status: 200, headers, body: Buffer.from(await metrics.text()) };
    }
    if (path !== '/healthz' || health === undefined) return problemReply(notFound());
    const report = await health();
    const headers = [['Content-Type', 'application/json; charset=utf-8'], FRESH] as const;
    return {
      status: report.status === 'Unhealthy' ? 503 : 200,
      headers,
      body: Buffer.from(JSON.stringify(report)),
    };
  };
}
