// Checks the metrics of nodes and parents with promtool, which must find nothing.
import { setTimeout as delay } from 'node:timers/promises';
import { allFamilies } from '../../../dev/docs/metrics-page.js';
import { joinedTexts } from '../../../src/node/metrics/joined-texts.js';
import { createProcessMetrics } from '../../../src/node/metrics/process-metrics.js';
import { reportOfPromtool } from '../../support/promtool.js';
import { testWith } from '../../support/test-with.js';

const ROLES = new Set(['api', 'mx', 'submission', 'imap', 'pop3', 'outbound', 'mailbox']);

testWith('promtool')('promtool reports nothing of a node of all roles', async (t) => {
  const metrics = allFamilies({ version: '1', roles: ROLES });
  let text: string;
  // Once the timer of the event loop has fired, every gauge has its samples.
  do {
    await delay(20);
    text = await metrics.text();
  } while (!text.includes('\nmansio_event_loop_delay_seconds{'));
  t.is(await reportOfPromtool(text), '');
  // promtool does report a faulty text.
  t.regex(await reportOfPromtool('# TYPE mansio_x counter\nmansio_x 1\n'), /no help text/);
});

testWith('promtool')('promtool reports nothing of a parent of processes', async (t) => {
  const texts = await Promise.all([1, 2].map((process) => allFamilies({ version: '1', roles: ROLES, process }).text()));
  const processes = () => [1, 2].map((number) => ({ number, isReady: true, restarted: 0 }));
  t.is(await reportOfPromtool(await createProcessMetrics({ processes, texts: async () => texts }).text()), '');
  t.is(await reportOfPromtool(joinedTexts(texts)), '');
});
