// `GET /healthz` for load balancers and people: 503 only when a check is Unhealthy.
import { nullable } from 'superstruct';
import type { HeaderField } from '../exchange.js';
import { anyObject, choice, decimal, list, record, text } from '../fields.js';
import type { HealthReport } from '../health.js';
import { named } from '../openapi/json-schema.js';
import { defineRoute, type Route } from '../route.js';

const status = choice('Healthy', 'Degraded', 'Unhealthy');

const healthReport = named(
  'HealthReport',
  record({
    status,
    totalDuration: decimal({ description: 'ms' }),
    checks: list(
      named(
        'HealthCheck',
        record({
          name: text(),
          status,
          duration: decimal({ description: 'ms' }),
          description: nullable(text()),
          exception: nullable(text()),
          tags: list(text()),
          data: nullable(anyObject()),
        }),
      ),
    ),
  }),
);

const FRESH: readonly HeaderField[] = [['Cache-Control', 'no-store']];

export function healthRoute(health: () => Promise<HealthReport>): Route {
  return defineRoute({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the server can do its work',
    description: '200 for Healthy and Degraded, 503 for Unhealthy.',
    tags: ['Service'],
    access: 'public',
    // Balancers and containers send requests all the time, many of them from one address.
    rate: 'unlimited',
    replies: { 200: healthReport, 503: healthReport },
    handler: async () => {
      const json = await health();
      return json.status === 'Unhealthy'
        ? { status: 503, headers: FRESH, json }
        : { status: 200, headers: FRESH, json };
    },
  });
}
