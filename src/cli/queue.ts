// `mansio queue list | show | retry | cancel | release`: outbound mail in the store. Only its mailbox changes an email in the queue: the command
// stores a request, waits a moment for a running node to execute it, and then shows the email.
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { OUTBOUND_ROLE } from '../actors/delivery/delivery-placement.js';
import { isUuid } from '../mail-format/ids.js';
import { OUTBOUND_STATUSES } from '../mail-format/outbound-status.js';
import type { OutboundListing, OutboundRequest, OutboundStatus, OutboundStore } from '../store/outbound.js';
import type { Sql } from '../store/postgres/driver/client.js';
import { postgresLeases } from '../store/postgres/leases.js';
import { postgresOutbound } from '../store/postgres/outbound/outbound.js';
import { CommandError, commandGroup, reporting, textOf } from './output.js';
import { type CommandStore, withStore } from './store.js';

const MOST = 10_000;
/** The time for a running node to see a request and execute it. */
const PATIENCE_MS = 8_000;
export const REQUEST_POLL_MS = 50;

type Action = Exclude<OutboundRequest['action'], 'release'>;
type Asked = ReturnType<typeof shapeOf> & { readonly requested?: Action };

export function registerQueue(program: Command): void {
  const group = commandGroup(program, 'queue', 'outbound mail: show, retry, cancel or release it');

  const list = group
    .command('list')
    .description('list outbound email, newest first')
    .option('--status <status>', `only ${OUTBOUND_STATUSES.join(', ')}; all but drafts when absent`, statusOf)
    .option('--limit <number>', `at most so many, ${MOST} at the most`, limitOf, 1000);
  reporting(
    list,
    ({ status, limit }: { status?: OutboundStatus; limit: number }) =>
      withQueue(async (queue) => (await queue.list(status, limit)).map(shapeOf)),
    listText,
  );

  const show = group.command('show').description('show an outbound email and its recipients').argument('<id>');
  reporting(show, (id: string) => withQueue(async (queue) => shapeOf(await existing(queue, id))), showText);

  const retry = group
    .command('retry')
    .description('deliver a queued or held email now, or a failed one again')
    .argument('<id>');
  reporting(retry, (id: string) => ask(id, 'retry'), askedText);

  const cancel = group
    .command('cancel')
    .description('give an email up: recipients who have not got it will not get it')
    .argument('<id>');
  reporting(cancel, (id: string) => ask(id, 'cancel'), askedText);

  const release = group
    .command('release')
    .description('deliver the emails that a restore brought back, which wait until then');
  reporting(release, releaseAll, releasedText);
}

function withQueue<T>(work: (queue: OutboundStore, store: CommandStore) => Promise<T>): Promise<T> {
  return withStore((store) => work(postgresOutbound(store.sql), store));
}

function statusOf(text: string): OutboundStatus {
  const status = OUTBOUND_STATUSES.find((known) => known.toLowerCase() === text.toLowerCase());
  if (status === undefined) throw new InvalidArgumentError(`It is one of ${OUTBOUND_STATUSES.join(', ')}.`);
  return status;
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
    throw new InvalidArgumentError(`It is a number from 1 to ${MOST}.`);
  }
  return limit;
}

async function existing(queue: OutboundStore, id: string): Promise<OutboundListing> {
  if (!isUuid(id)) throw new CommandError(`not the id of an outbound email: ${id} (see mansio queue list)`);
  const found = await queue.find(id.toLowerCase());
  if (found === undefined) throw new CommandError(`no outbound email has the id ${id}`);
  return found;
}

const POSSIBLE: Readonly<Record<Action, ReadonlySet<OutboundStatus>>> = {
  retry: new Set(['Queued', 'Failed']),
  cancel: new Set(['Queued']),
};

/** Returns the email after the action; unchanged, with `requested`, when no node executes it in time. */
function ask(id: string, action: Action): Promise<Asked> {
  return withQueue(async (queue, { sql }) => {
    const before = await existing(queue, id);
    if (!POSSIBLE[action].has(before.status) && !before.awaitsRelease)
      throw new CommandError(`cannot ${action} it: ${whyNot(before)}`);
    const { accountId, id: outboundId } = before;
    await queue.request({ accountId, outboundId, action });
    const until = await patience(sql);
    for (; performance.now() < until; await delay(REQUEST_POLL_MS)) {
      if (await queue.isRequested({ accountId, outboundId })) continue;
      const after = await existing(queue, id);
      if (action === 'cancel' && after.status !== 'Failed') throw new CommandError(`not cancelled: ${whyNot(after)}`);
      return shapeOf(after);
    }
    return { ...shapeOf(before), requested: action };
  });
}

/** Returns the time until which a running node may execute a request; the present time when none runs. */
export async function patience(sql: Sql): Promise<number> {
  const { nodes } = await postgresLeases(sql).view();
  const isServed = nodes.some(({ expired, roles }) => !expired && roles.includes(OUTBOUND_ROLE));
  return performance.now() + (isServed ? PATIENCE_MS : 0);
}

interface Released {
  readonly released: number;
  /** Emails whose release is noted, and that no node has released yet. */
  readonly requested: number;
}

function releaseAll(): Promise<Released> {
  return withQueue(async (queue, { sql }) => {
    const before = await queue.awaitingRelease();
    await queue.requestReleases();
    let requested = before;
    const until = before === 0 ? 0 : await patience(sql);
    for (; requested > 0 && performance.now() < until; await delay(REQUEST_POLL_MS))
      requested = await queue.awaitingRelease();
    return { released: before - requested, requested };
  });
}

function releasedText({ released, requested }: Released): string {
  const rest = `${requested} more are noted, and released when a node with the role ${OUTBOUND_ROLE} runs.`;
  return [`${released} released`, ...(requested === 0 ? [] : [rest])].join('\n');
}

function whyNot({ status }: OutboundListing): string {
  if (status === 'Sending') return 'it is being delivered at this moment';
  return status === 'Draft' ? 'it is a draft' : `it is ${status} already`;
}

/** Formats times as ISO 8601. */
function shapeOf(email: OutboundListing) {
  const { accountEmail: account, sender: fromAddress, recipients, references: _, ...rest } = email;
  const { id, accountId, status, subject, messageId, size: sizeBytes, retryCount, lastError } = rest;
  const { createdAt, updatedAt, queuedAt, sentAt, nextRetryAt, heldUntil, awaitsRelease } = rest;
  return {
    id,
    accountId,
    account,
    status,
    fromAddress,
    subject,
    messageId,
    sizeBytes,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
    queuedAt: iso(queuedAt),
    sendAt: iso(heldUntil),
    sentAt: iso(sentAt),
    retryCount,
    nextRetryAt: iso(nextRetryAt),
    awaitsRelease,
    lastError,
    recipients: recipients.map((recipient) => ({
      id: recipient.id,
      address: recipient.address,
      displayName: recipient.displayName,
      type: recipient.type,
      status: recipient.status,
      domain: recipient.domain,
      deliveredAt: iso(recipient.deliveredAt),
      statusCode: recipient.statusCode,
      lastError: recipient.lastError,
    })),
  };
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

type Shape = ReturnType<typeof shapeOf>;

function listText(emails: readonly Shape[]): string {
  return textOf(
    emails.map(({ id, status, fromAddress, recipients, retryCount, nextRetryAt, sendAt, awaitsRelease, subject }) => {
      const delivered = recipients.filter((recipient) => recipient.status === 'Delivered').length;
      const failed = recipients.filter((recipient) => recipient.status === 'Failed').length;
      const fate = `${delivered} of ${recipients.length}${failed === 0 ? '' : `, ${failed} failed`}`;
      return {
        id,
        status,
        from: fromAddress,
        delivered: fate,
        retries: retryCount,
        next: awaitsRelease ? 'after mansio queue release' : (nextRetryAt ?? sendAt),
        subject,
      };
    }),
  );
}

function showText({ recipients, ...email }: Shape): string {
  const rows = recipients.map(({ address, type, status, deliveredAt, statusCode, lastError }) => ({
    recipient: address,
    type,
    status,
    deliveredAt,
    code: statusCode,
    lastError,
  }));
  return [textOf(email), '', textOf(rows)].join('\n');
}

function askedText({ requested, ...email }: Asked): string {
  if (requested === undefined) return showText(email);
  const promise = `No node has done it yet: the ${requested} is noted, and done when one with the role ${OUTBOUND_ROLE} runs.`;
  return `${showText(email)}\n\n${promise}`;
}
