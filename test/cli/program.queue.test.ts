// Tests `mansio queue`: lists, one email, and what operators ask for with a node and without one.
import { randomUUID } from 'node:crypto';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../src/store/postgres/leases.js';
import { mansioJson as json, mansio } from '../support/command-line.js';
import test from '../support/test.js';
import { programDatabase } from './program-database.js';

let sql: Sql;
let close: () => Promise<void>;

test.before(async () => {
  ({ sql, close } = await programDatabase());
});

test.after.always(() => close?.());

/** Queues an email with one delivered recipient and another that is not. */
async function queued(status: string, subject: string): Promise<string> {
  const [account] = await sql`select id from accounts where email = 'taken@example.test'`;
  const [accountId, id] = [account!['id'] as string, randomUUID()];
  await sql`insert into outbound (account_id, id, shard, status, blob, sender, subject, sent_email_id, created_at, updated_at,
      queued_at, next_retry_at, retry_count, last_error)
    values (${accountId}, ${id}, 0, ${status}, '', 'taken@example.test', ${subject}, ${randomUUID()}, now(), now(), now(),
      '2030-01-02T03:04:05.006Z', 2, '451 later')`;
  const recipients = [
    { address: 'got@there.test', status: 'Delivered', delivered_at: '2026-01-02T03:04:05Z', last_error: null },
    { address: 'not@there.test', status: 'Pending', delivered_at: null, last_error: '451 later' },
  ];
  for (const [position, recipient] of recipients.entries()) {
    const { address, delivered_at, last_error } = recipient;
    await sql`insert into outbound_recipients (account_id, outbound_id, id, position, address, type, status, domain,
        delivered_at, last_error)
      values (${accountId}, ${id}, ${randomUUID()}, ${position}, ${address}, 'To', ${recipient.status}, 'there.test',
        ${delivered_at}, ${last_error})`;
  }
  return id;
}

test.serial('queue list and show', async (t) => {
  const id = await queued('Queued', 'first \u001b[31mred');
  const draft = await queued('Draft', 'a draft');
  const listed = await json('queue', 'list');
  t.false(listed.some((email: { id: string }) => email.id === draft));
  t.deepEqual(
    (await json('queue', 'list', '--status', 'draft')).map((email: { id: string }) => email.id),
    [draft],
  );
  const shown = await json('queue', 'show', id.toUpperCase());
  t.deepEqual(
    shown,
    listed.find((email: { id: string }) => email.id === id),
  );
  t.like(shown, {
    account: 'taken@example.test',
    status: 'Queued',
    fromAddress: 'taken@example.test',
    retryCount: 2,
    nextRetryAt: '2030-01-02T03:04:05.006Z',
    lastError: '451 later',
  });
  t.deepEqual(
    shown.recipients.map(({ id: _, ...recipient }: { id: string }) => recipient),
    [
      {
        address: 'got@there.test',
        displayName: null,
        type: 'To',
        status: 'Delivered',
        domain: 'there.test',
        deliveredAt: '2026-01-02T03:04:05.000Z',
        statusCode: null,
        lastError: null,
      },
      {
        address: 'not@there.test',
        displayName: null,
        type: 'To',
        status: 'Pending',
        domain: 'there.test',
        deliveredAt: null,
        statusCode: null,
        lastError: '451 later',
      },
    ],
  );
  t.is((await json('queue', 'list', '--limit', '1')).length, 1);
  const { out } = await mansio('queue', 'list');
  t.regex(out, /^id +status +from +delivered +retries +next +subject\n/);
  t.regex(
    out,
    /\n[0-9a-f-]{36} +Queued +taken@example\.test +1 of 2 +2 +2030-01-02T03:04:05\.006Z +first \ufffd\[31mred\n/,
  );
  t.regex(
    (await mansio('queue', 'show', id)).out,
    /\n\nrecipient +type [^\n]*\n(.*\n)*not@there\.test +To +Pending +- +- +451 later\n$/,
  );
  await sql`delete from outbound`;
});

test.serial('queue retry and cancel without a node leave word, and say so', async (t) => {
  const id = await queued('Queued', 'x');
  const asked = await json('queue', 'retry', id);
  t.like(asked, { id, status: 'Queued', requested: 'retry' });
  t.regex((await mansio('queue', 'cancel', id)).out, /No node has done it yet: the cancel is noted, and done when one/);
  const rows = await sql`select outbound_id, action from outbound_requests`;
  t.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ outbound_id: id, action: 'cancel' }],
  );
  await sql`delete from outbound_requests`;
  await sql`delete from outbound`;
});

test.serial('queue retry and cancel beside a node show what it has done', async (t) => {
  const node = { id: 'out', incarnation: 'i', version: '1', roles: ['outbound'], bus: 'nats' as const };
  await postgresLeases(sql).join(node, 60_000);
  /** Does what the mailbox would do with the request. */
  const carryOut = async (status: string) => {
    for (let done = 0; done === 0; await new Promise((resolve) => setTimeout(resolve, 5))) {
      const asked = await sql`select outbound_id from outbound_requests`;
      for (const row of asked) await sql`update outbound set status = ${status} where id = ${row['outbound_id']}`;
      done = (
        await sql`delete from outbound_requests where outbound_id = any(${asked.map((row) => row['outbound_id'])})`
      ).count;
    }
  };
  const id = await queued('Queued', 'x');
  const [retried] = await Promise.all([json('queue', 'retry', id), carryOut('Sent')]);
  t.like(retried, { id, status: 'Sent', requested: undefined });
  t.is((await mansio('queue', 'retry', id)).err, 'error: cannot retry it: it is Sent already\n');
  const other = await queued('Queued', 'y');
  const [cancelled] = await Promise.all([json('queue', 'cancel', other), carryOut('Failed')]);
  t.is(cancelled.status, 'Failed');
  t.is((await mansio('queue', 'cancel', other)).code, 1);
  // A delivery began before the mailbox was asked.
  const late = await queued('Queued', 'z');
  const [refused] = await Promise.all([mansio('queue', 'cancel', late), carryOut('Sending')]);
  t.deepEqual([refused.code, refused.err], [1, 'error: not cancelled: it is being delivered at this moment\n']);
  await sql`delete from outbound`;
  await sql`delete from nodes`;
});
