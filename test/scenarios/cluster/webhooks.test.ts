// Tests webhooks of a cluster under load: the owners of their accounts are killed, stopped and restarted, and each receiver gets every
// event of its account in the order of the log.

import { firstOfEach, loggedEvents, wholeLog } from '../../support/logged-events.js';
import type { HttpReceiver } from '../../support/peers/http-receiver.js';
import { startWebhookReceiver } from '../../support/peers/webhook-receiver.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';

interface Made {
  readonly id: string;
  readonly secret: string;
}

/** Returns the ids of the messages that the URL has got so far, unverified; reads each request once. */
function newIds({ requests, url: base }: HttpReceiver, url: string): () => ReadonlySet<string> {
  const ids = new Set<string>();
  let seen = 0;
  return () => {
    for (; seen < requests.length; seen++) {
      const { path, headers } = requests[seen]!;
      if (base + path === url) ids.add(String(headers['webhook-id']));
    }
    return ids;
  };
}

testWith('nats-server')('webhooks miss nothing while their owners are killed and stopped', async (t) => {
  t.timeout(600_000);
  const settings = { MANSIO_WEBHOOK_ALLOW_PRIVATE: 'true' };
  const cluster = await startCluster(t, { nodes: 3, accounts: 3, settings });
  await cluster.settled();
  const { receiver, ...hook } = await startWebhookReceiver(t);
  const hooks = await Promise.all(
    cluster.accounts.map(async (account, i) => {
      const [{ modseq = 0 } = {}] = await cluster.sql<{ modseq: number }[]>`
        select modseq::float8 as modseq from accounts where id = ${account.id}`;
      const url = hook.url(`hook${i}`);
      const response = await fetch(`${cluster.nodes[i % 3]!.http}/api/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url }),
      });
      t.is(response.status, 201);
      const { secret } = (await response.json()) as Made;
      return { account, url, secret, modseq };
    }),
  );
  const load = cluster.load();
  await load.more(25);
  const owner = await cluster.ownerOf(cluster.accounts[0]!);
  await owner.kill();
  await load.more(25);
  await cluster.settled();
  await owner.start();
  await load.more(10);
  await cluster.settled();
  const next = cluster.nodes.find((node) => node !== owner)!;
  await next.stop();
  await load.more(25);
  await next.start();
  await load.more(10);
  await cluster.settled();
  await cluster.verify(load);
  for (const { account, url, secret, modseq } of hooks) {
    const heard = newIds(receiver, url);
    const logged = await wholeLog(
      () => loggedEvents(cluster.sql, account.id, modseq),
      (log) => heard().size === log.length,
    );
    const expected = logged.map(({ id }) => id);
    t.true(expected.length > 0);
    const taken = hook.accepted(url, secret).map(({ id }) => id);
    t.deepEqual(firstOfEach(taken), expected, url);
    const repeated = taken.length - expected.length;
    t.log(`${url}: ${expected.length} events, ${repeated} came again`);
  }
});
