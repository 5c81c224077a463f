// Tests Web Push in a cluster whose nodes hand over and die under mail: every browser gets every email of its account, in the order
// in which the mailbox accepted them; only a death repeats a message.
import { createTransport } from 'nodemailer';
import { startPushService } from '../../support/peers/push-service.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { PATIENT_TTL_MS } from './support/roll.js';

interface Payload {
  readonly body: string;
  readonly data: { readonly emailId: string };
}

testWith('nats-server')('messages survive a handover and the deaths of their owners', async (t) => {
  t.timeout(600_000);
  const service = await startPushService(t);
  const settings = { MANSIO_PUSH_ALLOW_PRIVATE: 'true' };
  // A node that loses its leases on a busy machine hands nothing over: what it has sent is sent again.
  const cluster = await startCluster(t, { nodes: 3, accounts: 6, leaseTtlMs: PATIENT_TTL_MS, settings });
  await cluster.settled();
  const [keeper, ...others] = cluster.nodes;
  const browsers = new Map<string, string>();
  for (const { email, key } of cluster.accounts) {
    const subscription = service.subscribe();
    // This node may not own the account.
    const response = await fetch(`${keeper!.http}/api/push-subscriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(subscription),
    });
    t.is(response.status, 201);
    browsers.set(email, subscription.endpoint);
  }
  const [host, mxPort] = keeper!.mx.split(':');
  const mx = createTransport({ host: host!, port: Number(mxPort), tls: { rejectUnauthorized: false }, pool: true });
  t.teardown(() => mx.close());
  let count = 0;
  const send = async (times: number) => {
    for (let i = 0; i < times; i++) {
      const subject = `email ${++count}`;
      const mail = (to: string) => mx.sendMail({ from: 'bob@remote.test', to, subject, text: subject });
      await Promise.all([...browsers.keys()].map(mail));
    }
  };
  const emailsOf = (email: string) =>
    service.payloads<Payload>(browsers.get(email)).map(({ body, data }) => `${body} ${data.emailId}`);
  const isComplete = () => [...browsers.keys()].every((email) => new Set(emailsOf(email)).size === count);

  await send(5);
  await others[0]!.stop();
  await send(5);
  await service.receiver.until(isComplete);
  for (const email of browsers.keys()) t.is(emailsOf(email).length, count, 'a handover repeats nothing');

  await others[0]!.start();
  await cluster.settled();
  for (const node of others) {
    const underWay = send(10);
    await node.kill();
    await underWay;
    await cluster.settled();
    await node.start();
    await cluster.settled();
  }
  await send(2);
  await service.receiver.until(isComplete);
  t.deepEqual(service.faults, []);
  for (const { id, email } of cluster.accounts) {
    const rows = await cluster.sql<{ subject: string }[]>`
      select entry->'payload'->'email'->>'subject' || ' ' || (entry->'payload'->'email'->>'id') as subject
      from events, lateral json_array_elements(entries::json) entry
      where account_id = ${id} and entry->>'type' = 'EmailAdded' order by seq`;
    const pushed = emailsOf(email);
    t.deepEqual(
      [...new Set(pushed)],
      rows.map(({ subject }) => subject),
    );
    t.true(pushed.length <= count + 2, 'a death repeats one message of an account at most');
  }
});
