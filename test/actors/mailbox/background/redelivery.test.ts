import pino from 'pino';
import { startRedelivery } from '../../../../src/actors/mailbox/background/redelivery.js';
import type { Mailboxes } from '../../../../src/actors/mailbox/protocol.js';
import { NO_SPAN, NO_TRACER } from '../../../../src/actors/runtime/tracing.js';
import type { InboundEnvelope, InboundStore, PendingInbound } from '../../../../src/store/inbound.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';

const summary = {
  messageId: null,
  inReplyTo: null,
  references: [],
  fromAddress: '',
  fromName: '',
  subject: '',
  preview: '',
  size: 1,
  hasAttachments: false,
  attachmentCount: 0,
};

const pending = (accountId: string, trace?: string): PendingInbound => ({
  accountId,
  id: accountId,
  blob: '',
  envelope: { receivedAt: 0, summary, ...(trace === undefined ? {} : { trace }) },
});

test('what waits is delivered in the trace of its message, and what cannot be is counted', async (t) => {
  const rows = [pending('a', '00-of-the-message'), pending('b'), pending('gone'), pending('early')];
  const ended: string[] = [];
  const inbound: Pick<InboundStore, 'overdue' | 'end'> = {
    overdue: async () => rows,
    end: async ({ accountId }) => void ended.push(accountId),
  };
  const asked: string[] = [];
  const mailboxes = {
    of: (accountId: string) => ({
      ask: async () => {
        asked.push(accountId);
        if (accountId === 'gone') throw new Error('away');
        if (accountId === 'early') return { refusal: 'attemptUnderWay' };
        return { reply: { emailId: accountId === 'a' ? 'an email' : null } };
      },
    }),
  } as unknown as Mailboxes;
  const parents: (string | undefined)[] = [];
  const redelivery = await startRedelivery({
    inbound: inbound as InboundStore,
    mailboxes,
    ownership: { owned: [0] },
    log: pino({ level: 'silent' }),
    intervalMs: 3_600_000,
    minAgeMs: 0,
    tracer: {
      ...NO_TRACER,
      start(_name, options) {
        parents.push(options?.parent);
        return NO_SPAN;
      },
    },
  });
  t.deepEqual(asked.sort(), ['a', 'b', 'early', 'gone']);
  t.deepEqual(parents, ['00-of-the-message', undefined, undefined, undefined]);
  t.is(redelivery.delivered, 2);
  t.is(redelivery.waiting, 2);
  // The row of a delivery that has happened may have come back; the commit ends that of one that happens now.
  t.deepEqual(ended, ['b']);
  await redelivery.stop();
});

test('a backlog keeps no start waiting, and is delivered meanwhile', async (t) => {
  const { promise: opened, resolve: open } = deferred();
  const rows = [pending('a'), pending('b')];
  const mailboxes = {
    of: (accountId: string) => ({
      ask: async () => {
        await opened;
        rows.splice(
          rows.findIndex((row) => row.accountId === accountId),
          1,
        );
        return { reply: { emailId: null } };
      },
    }),
  } as unknown as Mailboxes;
  const redelivery = await startRedelivery({
    inbound: { overdue: async () => [...rows], end: async () => {} } as unknown as InboundStore,
    mailboxes,
    ownership: { owned: [0] },
    log: pino({ level: 'silent' }),
    intervalMs: 3_600_000,
    minAgeMs: 0,
  });
  t.is(redelivery.delivered, 0);
  open();
  await redelivery.stop();
  t.is(redelivery.delivered, 2);
  t.deepEqual(rows, []);
});

test('suspect mail stays suspect, and a proven author proven', async (t) => {
  const suspect = pending('a');
  const rows: PendingInbound[] = [
    { ...suspect, envelope: { ...suspect.envelope, isJunk: true, isContentJunk: true } },
    { ...suspect, envelope: { ...suspect.envelope, isAuthorProven: true } },
    pending('b'),
  ];
  const payloads: unknown[] = [];
  const mailboxes = {
    of: () => ({
      ask: async (_name: string, payload: Pick<InboundEnvelope, 'isJunk' | 'isContentJunk' | 'isAuthorProven'>) => {
        payloads.push([payload.isJunk, payload.isContentJunk, payload.isAuthorProven]);
        return { reply: { emailId: null } };
      },
    }),
  } as unknown as Mailboxes;
  const redelivery = await startRedelivery({
    inbound: { overdue: async () => rows.splice(0), end: async () => {} } as unknown as InboundStore,
    mailboxes,
    ownership: { owned: [0] },
    log: pino({ level: 'silent' }),
    intervalMs: 3_600_000,
    minAgeMs: 0,
    tracer: NO_TRACER,
  });
  t.deepEqual(payloads, [
    [true, true, undefined],
    [undefined, undefined, true],
    [undefined, undefined, undefined],
  ]);
  await redelivery.stop();
});
