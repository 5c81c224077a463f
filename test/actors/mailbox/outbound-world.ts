// Stores and queues outbound mail of a mailbox world, and makes its deliveries by hand.
import { createHash, randomUUID } from 'node:crypto';
import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../src/mail-format/summary.js';
import type { ChangeOf } from '../../../src/store/changes/changes.js';
import type { Teardown } from '../../support/database/embedded-database.js';
import { type MailboxWorld, mailboxWorld } from './mailbox-world.js';

export type Kind = 'delivered' | 'temporary' | 'permanent';

/** Starts a world with the account of a sender, until the test ends. */
export async function sender(t: Teardown, limits: Parameters<typeof mailboxWorld>[1] = {}) {
  const world = await mailboxWorld(undefined, limits);
  t.teardown(world.end);
  const { id: accountId } = await world.directory.createAccount('me@example.test', 'Me');
  return { world, accountId, mailbox: world.mailboxes.of(accountId) };
}

let number = 0;

/** Stores a message for `enqueue` or `giveDsn`. */
export async function stored(world: MailboxWorld, headers: readonly string[] = []) {
  number++;
  const lines = [`From: Me <me@example.test>`, `Subject: out ${number}`, `Message-ID: <out-${number}@example.test>`];
  const raw = Buffer.from(`${[...lines, ...headers].join('\r\n')}\r\n\r\nhello ${number}`);
  const index = indexMessage(raw);
  const blob = createHash('sha256').update(raw).digest('hex');
  await world.blobs.put({ hash: blob, size: raw.length, index, chunks: () => [raw] });
  const summary = summarize(index);
  return { blob, summary: { ...summary, references: [...summary.references] } };
}

/** Composes and stores a draft as a client does. */
export async function draftOf(world: MailboxWorld, subject: string, to: readonly string[] = []) {
  const { blob, summary } = await stored(world);
  return {
    sender: 'me@example.test',
    subject,
    content: { textBody: `text of ${subject}`, htmlBody: null },
    recipients: to.map(addressee),
    message: { blob, size: summary.size, summary: { ...summary, subject } },
  };
}

export function addressee(address: string) {
  return { address, displayName: null, type: 'To' as const, domain: address.slice(address.indexOf('@') + 1) };
}

export async function enqueued(
  world: MailboxWorld,
  accountId: string,
  to: readonly string[],
  sender = 'me@example.test',
) {
  const { blob, summary } = await stored(world);
  const queued = await world.mailboxes.of(accountId).ask('enqueue', {
    draft: null,
    sender,
    blob,
    summary,
    content: { textBody: 'hello', htmlBody: null },
    recipients: to.map(addressee),
  });
  return { ...queued.reply!, blob, summary };
}

/** Starts a delivery; returns the attempt's id and the reply. */
export async function started(
  world: MailboxWorld,
  accountId: string,
  outboundId: string,
  supersedes: string | null = null,
) {
  const attempt = { id: randomUUID(), by: 'this-node' };
  const { reply, refusal } = await world.mailboxes
    .of(accountId)
    .ask('startDelivery', { outboundId, attempt, supersedes });
  return { attemptId: attempt.id, reply, refusal };
}

export function outcome(recipientId: string, kind: Kind, localAccountId?: string, onward?: 'passed' | 'relayed') {
  const statusCode = { delivered: '2.0.0', temporary: '4.2.0', permanent: '5.1.1' }[kind];
  const answer = { recipientId, kind, text: `${kind} it is`, statusCode, host: 'mx.remote.test' };
  return {
    ...answer,
    ...(localAccountId !== undefined && { localAccountId }),
    ...(onward !== undefined && { onward }),
  };
}

export function attempt(recipients: readonly { readonly id: string; readonly outcome: Kind }[]) {
  return {
    id: randomUUID(),
    at: 1_700_000_000_123,
    durationMs: 12,
    domain: 'remote.test',
    host: 'mx.remote.test',
    remoteAddress: '192.0.2.1',
    tls: null,
    reply: '250 2.0.0 OK',
    recipients: recipients.map((recipient) => ({ ...recipient, statusCode: null })),
  };
}

/** Reports the end of a delivery. */
export async function reported(
  world: MailboxWorld,
  accountId: string,
  outboundId: string,
  attemptId: string,
  outcomes: readonly ReturnType<typeof outcome>[],
  isInterrupted = false,
) {
  const report = { outboundId, attemptId, outcomes: [...outcomes], attempts: [], isOver: true, isInterrupted };
  return world.mailboxes.of(accountId).ask('reportDelivery', report);
}

/** Returns the statuses that outbound emails have reached, in order. */
export async function statusesLogged(world: MailboxWorld, accountId: string) {
  const events = (await world.events.read(accountId, 0, 10_000)) as unknown as MailboxEvent[];
  return events.flatMap((event) => {
    if (event.type !== 'OutboundChanged') return [];
    const { outbound, passed } = event.payload;
    return passed.map((status) => ({ outboundId: outbound.id, status }));
  });
}

/** Returns the events of these types in the log, as `[type, payload]`. */
export async function logged(world: MailboxWorld, accountId: string, ...types: readonly string[]) {
  const events = await world.events.read(accountId, 0, 10_000);
  return events.filter(({ type }) => types.includes(type)).map(({ type, payload }) => [type, payload] as const);
}

/** Returns the new emails in the log. */
export async function added(world: MailboxWorld, accountId: string) {
  const events = await logged(world, accountId, 'EmailAdded');
  return events.map(([, payload]) => {
    const { email, placements, isNew } = payload as ChangeOf<'EmailAdded'>['payload'];
    return { id: email.id, placements, isNew };
  });
}
