// Tests the event stream of a whole node: mail and preferences as they change, the death of the node, and what ends a stream.

import { createTransport } from 'nodemailer';
import { createAccount, createKey, port, storeOf } from '../../../dev/node-accounts.js';
import { type EventStreamClient, openEventStream } from '../../support/clients/event-stream-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const SETTINGS = { MANSIO_HOSTED_DOMAINS: 'example.test' };
interface Credentials {
  /** The oldest key comes first. */
  readonly keys: readonly { readonly id: string }[];
}

const api = (node: TestNode, path: string) => `http://127.0.0.1:${port(node, 'http')}${path}`;
const hasEnded = (client: EventStreamClient) => () => client.ended !== undefined;

test('a client gets what happens in the account, through the death of its node, until its key or the node ends', async (t) => {
  let node = await startTestNode(SETTINGS);
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const { id, email, key } = await createAccount(sql, 'ann@example.test');
  const otherKey = await createKey(sql, id, ['app']);
  await sql.end();
  const send = (subject: string) =>
    createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } }).sendMail({
      from: 'bob@remote.test',
      to: email,
      subject,
      text: subject,
    });
  /** Resolves when the account has `count` emails: a node that has just started may place an email after it has accepted it. */
  const sendPlaced = async (subject: string, count: number) => {
    await send(subject);
    await eventually(`${subject} to be placed`, async () => {
      const listed = await fetch(api(node, '/api/emails'), { headers: { authorization: `Bearer ${key}` } });
      return ((await listed.json()) as { totalCount: number }).totalCount === count;
    });
  };
  const types = 'NewEmail,PreferencesChanged';
  const open = async (lastEventId?: string) => {
    const client = await openEventStream(api(node, `/api/events?types=${types}`), { key, lastEventId });
    t.teardown(() => client.close());
    return client;
  };
  const subjectsIn = ({ events }: EventStreamClient) =>
    events.filter(({ type }) => type === 'NewEmail').map(({ data }) => (data as { subject: string }).subject);

  const whole = async () => {
    const client = await openEventStream(api(node, '/api/events?after=0'), { key });
    t.teardown(() => client.close());
    await client.until(() => client.events.length > 0);
    return client;
  };
  const early = await whole();
  t.is(early.events[0]!.type, 'Position', 'nothing has happened yet');
  const first = await open();
  await send('one');
  await early.until(() => subjectsIn(early).length === 1);
  const late = await whole();
  await late.until(() => late.events.length > 1);
  t.deepEqual(
    late.events.slice(0, 2).map(({ type }) => type),
    ['Position', 'NewEmail'],
  );
  await first.until(() => subjectsIn(first).length === 1);
  const chosen = { theme: 'dark', undoSendSeconds: 10 };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const choice = await fetch(api(node, '/api/preferences'), { method: 'PUT', headers, body: JSON.stringify(chosen) });
  t.is(choice.status, 204);
  await first.until(() => first.events.at(-1)?.type === 'PreferencesChanged');
  t.deepEqual(first.events.at(-1)?.data, chosen);
  const read = (await (await fetch(api(node, '/api/preferences'), { headers })).json()) as object;
  t.like(read, chosen);

  await node.kill('SIGKILL');
  await first.until(hasEnded(first)).catch(() => {});
  node = await startTestNode({ ...SETTINGS, MANSIO_DATA_DIR: node.dataDir });
  await sendPlaced('two', 2);
  await sendPlaced('three', 3);
  const second = await open(first.lastId());
  await send('four');
  await second.until(() => subjectsIn(second).length === 3);
  t.deepEqual(subjectsIn(second), ['two', 'three', 'four']);
  t.is(second.events[0]!.type, 'Position');
  t.false(second.events.some(({ type }) => type === 'Resync'));

  const { keys } = (await (await fetch(api(node, '/api/smtp-credentials'), { headers })).json()) as Credentials;
  const kept = await openEventStream(api(node, '/api/events'), { key: otherKey });
  t.teardown(() => kept.close());
  const revoked = await fetch(api(node, `/api/smtp-credentials/${keys[0]!.id}`), {
    method: 'DELETE',
    headers: { authorization: `Bearer ${otherKey}` },
  });
  t.is(revoked.status, 204);
  await second.until(hasEnded(second));
  t.is(second.ended, 'whole');
  t.is((await open()).status, 401);
  t.is(kept.ended, undefined);
  const stopped = node.stop();
  await kept.until(hasEnded(kept));
  t.is(kept.ended, 'whole');
  await stopped;
});
