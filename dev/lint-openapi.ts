// Lints the OpenAPI document with Redocly's recommended rules; part of `npm run check`. Nothing is served: the routes are
// made without anything behind them. Exits with 1 for errors and for warnings.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApi } from '../src/gateways/http/openapi.js';
import { type RouteSources, routeTable } from '../src/gateways/http/route-table.js';

/** What the interface prescribes although a rule is against it: rule and the place where it may be broken. */
const PRESCRIBED: readonly (readonly [rule: string, place: RegExp])[] = [
  // Likewise `drafts`, which is no UUID.
  ['no-ambiguous-paths', /^#\/paths\/~1api~1outbound~1/],
  // A written segment goes before a parameter here, and `emails` is no UUID.
  ['no-ambiguous-paths', /^#\/paths\/~1api~1labels~1/],
  // Which nothing but its 503 keeps from replying.
  ['operation-4xx-response', /^#\/paths\/~1healthz\/get\//],
  ['operation-2xx-response', /^#\/paths\/~1api~1profile~1addresses~1\{addressId\}~1(send-verification|verify)\/post\//],
];

const sources = {
  accountApi: {},
  push: {},
  composing: {},
  config: { oidc: {} },
  checks: [],
} as unknown as RouteSources;
const source = JSON.stringify(openApi(routeTable(sources), '0.0.0', '/'), null, 1);
const config = await createConfig({ extends: ['recommended'] });
const problems = (await lintFromString({ source, absoluteRef: 'openapi.json', config })).filter(
  ({ ruleId, location }) =>
    !PRESCRIBED.some(([rule, place]) => rule === ruleId && place.test(location[0]?.pointer ?? '')),
);
for (const { severity, ruleId, message, location } of problems) {
  process.stderr.write(`${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}\n`);
}
process.exitCode = problems.length === 0 ? 0 : 1;
