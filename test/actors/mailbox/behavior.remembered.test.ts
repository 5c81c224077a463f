// Tests commands of the mailbox that must not run twice, on a real store: a reply outlives its owner for a while.
import { createHash, randomUUID } from 'node:crypto';
import pino from 'pino';
import { mailboxBehavior } from '../../../src/actors/mailbox/behavior.js';
import { startHost } from '../../../src/actors/runtime/host.js';
import type { ReplyPacket } from '../../../src/actors/runtime/transport/packet.js';
import { requestSubject } from '../../../src/actors/runtime/transport/subjects.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { postgresEvents } from '../../../src/store/postgres/mailbox/events.js';
import { postgresInbound } from '../../../src/store/postgres/mailbox/inbound.js';
import { postgresMailboxes } from '../../../src/store/postgres/mailbox/mailboxes.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import { NO_OUTBOUND } from '../../support/no-outbound.js';
import { NO_SEARCH } from '../../support/no-search.js';
import { fixedOwnership } from '../../support/ownership.js';
import test from '../../support/test.js';

test('a repeated command gets the reply of the first time from the next owner too, until it is forgotten', async (t) => {
  const database = await migratedDatabase();
  const sql = connect(database.address, { max: 4, applicationName: 'test' });
  const writerSql = connect(database.address, { max: 2, applicationName: 'test', byKey: true });
  const rows = postgresMailboxes(sql, writerSql);
  const events = postgresEvents(sql);
  const account = await postgresDirectory(sql, 1).createAccount('twice@example.test', 'x');

  async function owner(epoch: number) {
    const transport = localTransport({ encoding: true });
    const host = startHost({
      behavior: mailboxBehavior({
        store: rows,
        texts: {
          header: async () => Promise.reject(),
          text: async () => ({ text: '', extent: 'whole' as const }),
          longText: async () => Promise.reject(),
          searchable: async () => Promise.reject(),
        },
        search: NO_SEARCH,
        ...NO_OUTBOUND,
        log: pino({ level: 'silent' }),
      }),
      transport,
      ownership: fixedOwnership(1, () => epoch),
      log: pino({ level: 'silent' }),
      idleMs: 60_000,
      maxOctets: 1e9,
      sweepMs: 60_000,
      checked: true,
    });
    await host.acquired([0]);
    const ask = (id: string, name: string, payload: unknown): Promise<ReplyPacket> => {
      const packet = { v: 1, id, accountId: account.id, name, payload, deadline: Date.now() + 60_000 };
      return transport.request(requestSubject('mailbox', 0), packet, 60_000);
    };
    return { host, ask };
  }

  async function deliver(to: Awaited<ReturnType<typeof owner>>): Promise<string> {
    const raw = Buffer.from('From: A <a@b.test>\r\nSubject: once\r\n\r\nhello');
    const index = indexMessage(raw);
    const blob = createHash('sha256').update(raw).digest('hex');
    const summary = { ...summarize(index), references: [] };
    const inboundId = randomUUID();
    const spooled = { hash: blob, size: raw.length, index, chunks: () => [raw] };
    const delivery = { accountId: account.id, id: inboundId };
    await postgresInbound(sql, writerSql).spool(spooled, { receivedAt: 1, summary }, [delivery]);
    const delivered = await to.ask(randomUUID(), 'deliver', { inboundId, blob, receivedAt: 1, summary });
    return (delivered as { reply: { emailId: string } }).reply.emailId;
  }

  const first = await owner(1);
  const emailIds = [await deliver(first), await deliver(first)];
  const removal = randomUUID();
  const removed: ReplyPacket = { kind: 'reply', reply: { removed: 1, missing: [] } };
  t.deepEqual(await first.ask(removal, 'remove', { emailIds: emailIds.slice(0, 1) }), removed);

  const next = await owner(2);
  t.deepEqual(await next.ask(removal, 'remove', { emailIds: emailIds.slice(0, 1) }), removed);
  const other = await next.ask(randomUUID(), 'remove', { emailIds: emailIds.slice(0, 1) });
  t.deepEqual(other, { kind: 'reply', reply: { removed: 0, missing: emailIds.slice(0, 1) } });
  t.is((await next.ask(removal, 'remove', { emailIds })).kind, 'reply');
  const log = await events.read(account.id, 0, 100);
  t.is(log.filter(({ type }) => type === 'EmailRemoved').length, 1);
  t.deepEqual(await first.ask(removal, 'unreadCount', {}), { kind: 'reply', reply: { unread: 1 } });

  await sql`update recent_commands set at = now() - interval '11 minutes'`;
  await next.ask(randomUUID(), 'setRead', { emailIds, isRead: true });
  t.is(await rows.forget(10 * 60_000, 10), 1);
  t.is((await rows.overview(account.id)).remembered.length, 1);
  // A previous owner does not know that they are read now; it does not answer that nothing needs to be done.
  t.deepEqual(await first.ask(randomUUID(), 'setRead', { emailIds, isRead: false }), { kind: 'notOwner' });
  const third = await owner(3);
  t.deepEqual(await third.ask(removal, 'remove', { emailIds: emailIds.slice(0, 1) }), {
    kind: 'reply',
    reply: { removed: 0, missing: emailIds.slice(0, 1) },
  });

  for (const { host } of [first, next, third]) await host.stop();
  await writerSql.end();
  await sql.end();
  await database.drop();
});
