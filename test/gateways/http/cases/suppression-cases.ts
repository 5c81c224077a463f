// Says what the routes of suppressed addresses reply, and sending as one of many emails. They run after the cases of outbound mail.
import { ALICE } from '../fakes.js';
import type { TestMailboxes } from '../mailboxes.js';
import type { Step } from './endpoint-case.js';
import { bob, mail, O } from './outbound-request.js';

const REPLY = '550 5.1.1 No such user';
const NOBODY = { address: 'Nobody@remote.test', type: 'To' };

/** A far side refuses the recipient of the newest email. */
async function refusedForGood(mailboxes: TestMailboxes): Promise<void> {
  const mailbox = mailboxes.actors.of(ALICE);
  const { reply } = await mailbox.ask('outboundPage', { statuses: ['Queued'], page: 1, pageSize: 1 });
  const { id: outboundId, recipients } = reply!.items[0]!;
  const attempt = { id: outboundId, by: 'node' };
  await mailbox.ask('startDelivery', { outboundId, attempt, supersedes: null });
  const said = { kind: 'permanent' as const, text: REPLY, statusCode: '5.1.1', host: 'mx.remote.test' };
  const tried = recipients.map(({ id }) => ({ id, outcome: said.kind, statusCode: '5.1.1' }));
  const place = { domain: 'remote.test', host: said.host, remoteAddress: '192.0.2.1', tls: null };
  await mailbox.ask('reportDelivery', {
    outboundId,
    attemptId: attempt.id,
    outcomes: recipients.map(({ id: recipientId }) => ({ ...said, recipientId })),
    attempts: [{ id: outboundId, at: 0, durationMs: 1, ...place, reply: REPLY, recipients: tried }],
    isOver: true,
    isInterrupted: false,
  });
}

const send = (changes: object, status: number, ...fields: readonly string[]): Step => ({
  route: `POST ${O}/send`,
  json: { ...mail, ...changes },
  status,
  ...(fields.length > 0 && { fields }),
});
const bulk = (unsubscribeUrl: unknown) => ({ bulk: { unsubscribeUrl } });

export const SUPPRESSIONS: readonly Step[] = [
  send({ recipients: [NOBODY] }, 200),
  {
    route: 'GET /api/suppressions',
    as: ['api:read'],
    before: refusedForGood,
    status: 200,
    check: (t, body) => {
      t.is(body.length, 1);
      t.like(body[0], { address: 'nobody@remote.test', reason: REPLY });
      t.is(Date.parse(body[0].until) - Date.parse(body[0].since), 30 * 86_400_000);
    },
  },
  { route: 'GET /api/suppressions', as: ['imap'], status: 403 },
  { route: 'DELETE /api/suppressions/{address}', path: '/api/suppressions/somebody@remote.test', status: 404 },
  { route: 'DELETE /api/suppressions/{address}', path: '/api/suppressions/nobody', status: 404 },
  { route: 'DELETE /api/suppressions/{address}', path: '/api/suppressions/NOBODY%40remote.test', status: 204 },
  { route: 'GET /api/suppressions', status: 200, check: (t, body) => t.deepEqual(body, []) },
  send({ ...bulk('https://news.test/leave?of=4f2a'), headers: [['List-Id', '<news.test>']] }, 200),
  send({ bulk: null, recipients: [bob] }, 200),
  send(bulk('http://news.test/leave'), 400, 'bulk.unsubscribeUrl'),
  send(bulk('https://news.test/a b'), 400, 'bulk.unsubscribeUrl'),
  send(bulk('https://news.test/a,b'), 400, 'bulk.unsubscribeUrl'),
  send(bulk('https://news.test/=?utf-8?q?x?='), 400, 'bulk.unsubscribeUrl'),
  send(bulk('https://'), 400, 'bulk.unsubscribeUrl'),
  send(bulk('mailto:leave@news.test'), 400, 'bulk.unsubscribeUrl'),
  send({ bulk: {} }, 400, 'bulk.unsubscribeUrl'),
  send({ ...bulk('https://news.test/'), headers: [['list-unsubscribe', '<https://news.test/>']] }, 400, 'bulk'),
];
