// Defines the contract of the mailbox store for outbound mail: rows with their recipients, pages, counts, bodies, attempts, and
// local deliveries.
import { randomUUID } from 'node:crypto';
import type { ChangeContent } from '../../../src/store/changes/changes.js';
import { newId } from '../../../src/store/ids/new-id.js';
import type { DeliveryAttempt, OutboundRow, OutboundStatus } from '../../../src/store/outbound.js';
import { outboundRecords } from '../../support/mailbox-change.js';
import { ALL_SHARDS, type Contract } from './stores.js';
import { BLOB, openWriter, outboundEmail, recipient, T0 } from './writer.js';

const CONTENT = { textBody: 'text', htmlBody: null };

const written = (row: OutboundRow, before: OutboundStatus | null = null) =>
  outboundRecords(row, before, 'all', CONTENT);

const attempted = (outboundId: string, parts: Partial<DeliveryAttempt> = {}): ChangeContent => ({
  type: 'DeliveryAttempted',
  payload: {
    outboundId,
    attempt: {
      id: newId(),
      at: T0,
      durationMs: 1.5,
      domain: 'x.test',
      host: null,
      remoteAddress: null,
      tls: null,
      reply: 'ok',
      recipients: [],
      ...parts,
    },
  },
});

const removal = (outboundId: string): ChangeContent => ({ type: 'OutboundRemoved', payload: { outboundId } });

export const OUTBOUND: Contract = {
  async 'rows come back as they were written, recipients in their order'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const { accountId: id } = writer;
    const a = outboundEmail();
    const b = outboundEmail({ status: 'Sending', attempt: { id: randomUUID(), by: 'n1' }, nextRetryAt: null });
    await writer.commit([a, b].flatMap((row) => written(row)));
    t.deepEqual(await mailboxes.outboundRows(id, [b.id, randomUUID()]).then((rows) => [...rows]), [b]);
    const [first, second] = a.recipients;
    const changed = { ...first!, status: 'Delivered' as const, deliveredAt: T0 + 5 };
    const next = { ...a, retryCount: 3, lastError: 'no', recipients: [changed, { ...second!, lastError: 'unsaid' }] };
    await writer.commit(outboundRecords(next, 'Queued', [first!.id]));
    t.deepEqual([...(await mailboxes.outboundRows(id, [a.id]))], [{ ...next, recipients: [changed, second!] }]);
    t.is((await mailboxes.outboundRows(randomUUID(), [a.id])).length, 0);
    const third = recipient('c@three.test');
    await writer.commit(written({ ...next, recipients: [third] }, 'Queued'));
    t.deepEqual((await mailboxes.outboundRows(id, [a.id]))[0]!.recipients, [third]);
  },

  async 'emails are found by the Message-ID that a bounce returns, those of the account alone'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const other = await openWriter(stores);
    const messageId = `<${randomUUID()}@example.test>`;
    const older = outboundEmail({ messageId, createdAt: T0 });
    const newer = outboundEmail({ messageId, createdAt: T0 + 1 });
    await writer.commit([...written(older), ...written(newer), ...written(outboundEmail({ messageId: '<x@y.test>' }))]);
    await other.commit(written(outboundEmail({ messageId })));
    t.deepEqual(await mailboxes.outboundOfMessage(writer.accountId, messageId), [newer.id, older.id]);
    t.deepEqual(await mailboxes.outboundOfMessage(writer.accountId, '<none@y.test>'), []);
  },

  async 'a step writes all of the state of an email, and a message that is another one is written whole'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const email = outboundEmail({ machine: null, queuedAt: null, nextRetryAt: null });
    const stored = async () => (await mailboxes.outboundRows(writer.accountId, [email.id]))[0];
    const step = (row: OutboundRow) => outboundRecords(row, 'Queued', []);
    const another = (row: OutboundRow) => outboundRecords(row, 'Queued', 'all');
    await writer.commit(written(email));
    t.deepEqual(await stored(), email);

    const times = { updatedAt: T0 + 1, queuedAt: T0 + 2, sentAt: T0 + 3, nextRetryAt: T0 + 4 };
    const attempt = { id: randomUUID(), by: 'n1' };
    const report = { lastError: 'no', dsnDue: 'delayed', dsnAt: T0, delayReported: true } as const;
    const state = { status: 'Sending', emailId: newId(), retryCount: 5, machine: { value: 'Sending' } } as const;
    const full: OutboundRow = { ...email, ...times, ...report, ...state, attempt };
    await writer.commit(step(full));
    t.deepEqual(await stored(), full);
    await writer.commit(step({ ...email, heldUntil: T0 + 6, awaitsRelease: true }));
    t.deepEqual(await stored(), { ...email, heldUntil: T0 + 6, awaitsRelease: true });
    await writer.commit(step(email));
    t.deepEqual(await stored(), email, 'what is null again is null');

    const message = { blob: 'cd'.repeat(32), sender: 'i@example.test', subject: 'other', messageId: null, size: 11 };
    const other: OutboundRow = { ...full, ...message, inReplyTo: '<2@example.test>', references: [] };
    await writer.commit(another(other));
    t.deepEqual(await stored(), other);
    const last = { ...other, status: 'Failed' as const, subject: 'third', attempt: null };
    await writer.commit([...another({ ...other, subject: 'third' }), ...step(last)]);
    t.deepEqual(await stored(), last, 'of one commit the last step, and the message before it');
    const fresh = outboundEmail();
    await writer.commit([...written(fresh), ...step({ ...fresh, status: 'Sending' })]);
    const rows = await mailboxes.outboundRows(writer.accountId, [fresh.id]);
    t.deepEqual([...rows], [{ ...fresh, status: 'Sending' }]);
  },

  async 'pages go by time of making, over several statuses, each email once'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const rows = Array.from({ length: 25 }, (_, i) =>
      outboundEmail({ status: i % 2 === 0 ? 'Queued' : 'Sending', createdAt: T0 + Math.floor(i / 3) }),
    );
    const sent = outboundEmail({ status: 'Sent', emailId: newId() });
    await writer.commit([...rows, sent].flatMap((row) => written(row)));
    const wanted = rows.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).map((row) => row.id);
    const paged = [];
    for (let page = 1; page <= 4; page++)
      paged.push(...(await mailboxes.outboundPage(accountId, ['Queued', 'Sending'], [], page, 10)).map(({ id }) => id));
    t.deepEqual(paged, wanted);
    const rest = await mailboxes.outboundPage(accountId, ['Queued', 'Sending'], wanted.slice(0, 20), 1, 10);
    t.deepEqual(
      rest.map(({ id }) => id),
      wanted.slice(20),
    );
    const { modseq, counts } = await mailboxes.outboundCounts(accountId, ['Draft', 'Queued', 'Sent']);
    t.deepEqual(
      [modseq, [...counts]],
      [
        2,
        [
          ['Draft', 0],
          ['Queued', 13],
          ['Sent', 1],
        ],
      ],
    );
    t.deepEqual(
      await mailboxes.outboundOfCopies(accountId, [sent.emailId!, newId()]),
      new Map([[sent.emailId!, sent.id]]),
    );
  },

  async 'blind recipients are found by the copy of what was sent to them'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const blind = (address: string) => ({ ...recipient(address), type: 'Bcc' as const });
    const named = { ...blind('carol@x.test'), displayName: 'Carol' };
    const recipients = [recipient('ann@x.test'), named, blind('dan@x.test')];
    const sent = outboundEmail({ status: 'Sent', emailId: newId(), recipients });
    const open = outboundEmail({ status: 'Sent', emailId: newId(), recipients: recipients.slice(0, 1) });
    const draft = outboundEmail({ status: 'Draft', emailId: newId(), recipients });
    await writer.commit([sent, open, draft].flatMap((row) => written(row)));
    const ids = [sent, open, draft].map(({ emailId }) => emailId!);
    const expected = [
      { address: 'carol@x.test', displayName: 'Carol' },
      { address: 'dan@x.test', displayName: null },
    ];
    t.deepEqual(await mailboxes.blindRecipients(writer.accountId, ids), new Map([[ids[0]!, expected]]));
    t.is((await mailboxes.blindRecipients(await stores.account(), ids)).size, 0);
    const twice = outboundEmail({ status: 'Sent', emailId: newId(), recipients, messageId: '<m@x>' });
    await writer.commit(written(twice));
    const [again, own] = [
      await writer.add({ messageId: '<m@x>', origin: 'sent' }),
      await writer.add({ messageId: '<m@x>', origin: 'appended' }),
    ];
    const nameless = await writer.add({ messageId: null, origin: 'sent' });
    t.deepEqual(
      await mailboxes.blindRecipients(writer.accountId, [again.id, own.id, nameless.id]),
      new Map([[again.id, expected]]),
    );
  },

  async 'bodies stay until they are taken away, attempts are each stored once'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const row = outboundEmail();
    await writer.commit(written(row));
    await writer.commit(outboundRecords({ ...row, retryCount: 1 }, 'Queued', []));
    t.deepEqual(await mailboxes.outboundContent(accountId, row.id), CONTENT);
    await writer.commit(outboundRecords(row, 'Queued', [], null));
    t.is(await mailboxes.outboundContent(accountId, row.id), undefined);
    const [late, early] = [attempted(row.id, { at: T0 + 1 }), attempted(row.id)];
    await writer.commit([late, early]);
    await writer.commit([late]);
    t.deepEqual(
      (await mailboxes.outboundAttempts(accountId, row.id)).map(({ at, durationMs }) => [at, durationMs]),
      [
        [T0, 1.5],
        [T0 + 1, 1.5],
      ],
    );
  },

  async 'an email that is removed takes all that is its own along'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const [gone, stays] = [outboundEmail({ status: 'Draft' }), outboundEmail({ status: 'Draft' })];
    await writer.commit([...written(gone), ...written(stays), attempted(gone.id)]);
    await writer.commit([removal(gone.id)]);
    t.deepEqual(
      (await mailboxes.outboundRows(accountId, [gone.id, stays.id])).map(({ id }) => id),
      [stays.id],
    );
    t.is(await mailboxes.outboundContent(accountId, gone.id), undefined);
    t.deepEqual(await mailboxes.outboundAttempts(accountId, gone.id), []);
    const fleeting = outboundEmail({ status: 'Draft' });
    await writer.commit([...written(fleeting), removal(fleeting.id)]);
    t.is((await mailboxes.outboundCounts(accountId, ['Draft'])).counts.get('Draft'), 1);
  },

  async 'an owner that was overtaken writes nothing, nor does a commit that comes twice'(t, stores) {
    const { mailboxes } = stores;
    const writer = await openWriter(stores);
    const { accountId: me } = writer;
    const you = await stores.account();
    const row = outboundEmail();
    await writer.commit(written(row));
    const part: ChangeContent[] = [
      ...outboundRecords({ ...row, status: 'Sent', nextRetryAt: null }, 'Queued', []),
      attempted(row.id),
      ...[me, you, randomUUID()].map((accountId): ChangeContent => {
        const envelope = { receivedAt: T0, summary: {} as never };
        return { type: 'DeliveredLocally', payload: { accountId, id: randomUUID(), blob: BLOB, envelope } };
      }),
    ];
    const state = async () => ({
      inbound: (await stores.inbound.overdue(ALL_SHARDS, -1000, 10, [])).map(({ accountId }) => accountId).sort(),
      attempts: (await mailboxes.outboundAttempts(me, row.id)).length,
      status: (await mailboxes.outboundRows(me, [row.id]))[0]!.status,
    });
    await mailboxes.claim(me, 2);
    t.is((await writer.commit(part)).kind, 'fenced');
    t.is((await writer.commit([removal(row.id)])).kind, 'fenced');
    t.deepEqual(await state(), { inbound: [], attempts: 0, status: 'Queued' });
    t.is((await writer.commit(part, { epoch: 2 })).kind, 'committed');
    const after = { inbound: [me, you].sort(), attempts: 1, status: 'Sent' as const };
    t.deepEqual(await state(), after, 'what is for no account is not written');
    t.is((await writer.commit(part, { epoch: 2, modseqBefore: 2, modseqAfter: 3 })).kind, 'fenced');
    t.deepEqual(await state(), after);
  },
};
