// Lints the OpenAPI document with Redocly's recommended rules, as part of `npm run check`. It exits with 1 for errors and for warnings.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { bareDocument } from './openapi-document.js';

/** The paths and replies of docs/interface/rest.md that break a rule: the rule, and the place that may break it. */
const PRESCRIBED: readonly (readonly [rule: string, place: RegExp])[] = [
  // A fixed segment precedes a parameter here, and `drafts` is not a UUID.
  ['no-ambiguous-paths', /^#\/paths\/~1api~1outbound~1/],
  // A fixed segment precedes a parameter here, and `emails` is not a UUID.
  ['no-ambiguous-paths', /^#\/paths\/~1api~1labels~1/],
  // A fixed segment precedes a parameter here, and `threads` is not a UUID.
  ['no-ambiguous-paths', /^#\/paths\/~1api~1(external~1)?emails~1threads~1/],
  // The only failure of this route is its 503.
  ['operation-4xx-response', /^#\/paths\/~1healthz\/get\//],
  ['operation-2xx-response', /^#\/paths\/~1api~1profile~1addresses~1\{addressId\}~1(send-verification|verify)\/post\//],
];

const source = JSON.stringify(bareDocument(), null, 1);
const config = await createConfig({ extends: ['recommended'] });
const problems = (await lintFromString({ source, absoluteRef: 'openapi.json', config })).filter(
  ({ ruleId, location }) =>
    !PRESCRIBED.some(([rule, place]) => rule === ruleId && place.test(location[0]?.pointer ?? '')),
);
for (const { severity, ruleId, message, location } of problems) {
  process.stderr.write(`${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}\n`);
}
process.exitCode = problems.length === 0 ? 0 : 1;
