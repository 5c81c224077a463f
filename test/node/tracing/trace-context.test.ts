import { parseTraceparent, traceparentOf } from '../../../src/node/tracing/trace-context.js';
import test from '../../support/test.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a traceparent is read and written', (t) => {
  const context = parseTraceparent(`00-${TRACE}-${SPAN}-01`)!;
  t.deepEqual(context, { traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true });
  t.is(traceparentOf(context), `00-${TRACE}-${SPAN}-01`);
  t.is(traceparentOf(parseTraceparent(`00-${TRACE}-${SPAN}-00`)!), `00-${TRACE}-${SPAN}-00`);
  t.is(parseTraceparent(`00-${TRACE}-${SPAN}-ff`)?.traceFlags, 1, 'flags nobody knows yet are left out');
  t.is(parseTraceparent(`01-${TRACE}-${SPAN}-01-what-comes-later`)?.spanId, SPAN);
});

for (const malformed of [
  '',
  'traceparent',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ` 00-${TRACE}-${SPAN}-01`,
]) {
  test(`malformed, so not there: ${JSON.stringify(malformed)}`, (t) => {
    t.is(parseTraceparent(malformed), undefined);
  });
}
