// Tests one email to a thousand domains: each domain listens for the end of the node and of the delivery, and that is no leak.

import { world as clientWorld } from '../../net/smtp-client/client-world.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { ALONE, account, answer, ManualTransport, MESSAGE, OutboundWorld } from './outbound-world.js';

const DOMAINS = 1_000;

/** Collects warnings of the process from now on. */
function warnings(): { readonly seen: Error[]; end(): void } {
  const seen: Error[] = [];
  const note = (warning: Error) => void seen.push(warning);
  process.on('warning', note);
  return { seen, end: () => process.off('warning', note) };
}

test.serial('a delivery to a thousand domains warns of nothing', async (t) => {
  const { seen, end } = warnings();
  const world = new OutboundWorld();
  const transport = new ManualTransport();
  const addresses = Array.from({ length: DOMAINS }, (_, i) => `a@d${i}.test`);
  const email = world.add(account(1), addresses);
  // These emails wait for one domain, and report while the mailbox is unreachable.
  const others = Array.from({ length: 40 }, (_, i) => world.add(account(1), [`b${i}@d0.test`]));
  world.mailboxFault = ({ name }) =>
    name === 'reportDelivery' && world.asked.length % 3 > 0 ? new Error('away') : undefined;
  const { queue } = world.node('a', transport, ALONE, { pollMs: 5, limits: { perDomain: 2 } });
  await until(() => transport.open.length >= DOMAINS && others.every(({ status }) => status === 'Sending'));
  while (email.status !== 'Sent' || others.some(({ status }) => status !== 'Sent')) {
    for (const task of transport.open) task.settle(answer(task));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await queue.stop();
  await new Promise(setImmediate);
  end();
  t.deepEqual(seen.map(String), []);
});

test.serial('nor does the SMTP client', async (t) => {
  const { seen, end } = warnings();
  const world = new OutboundWorld();
  const addresses = Array.from({ length: DOMAINS }, (_, i) => `a@d${i}.test`);
  world.add(account(1), addresses);
  // Some of this many DNS queries get lost.
  const { transport, texts } = await clientWorld(t, { zones: {}, dnsTimeoutMs: 1_000 });
  texts.set('b'.repeat(64), MESSAGE);
  const { queue } = world.node('a', transport, ALONE);
  await until(() => world.asksOf('reportDelivery').some(({ payload }) => payload.isOver));
  await queue.stop();
  await new Promise(setImmediate);
  end();
  t.deepEqual(seen.map(String), []);
});
