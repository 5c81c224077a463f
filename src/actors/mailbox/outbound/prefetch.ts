// Reads what commands about outbound mail need from the store: rows that are not in memory, summaries of messages for mailboxes of this
// store, and outcomes of recipients in hosted domains. A command whose row could not be read fails with the same error.
import type { Logger } from 'pino';
import { isUuid } from '../../../mail-format/ids.js';
import type { MessageIndex } from '../../../mail-format/message-index.js';
import type { MessageSummary } from '../../../mail-format/summary.js';
import { summarize } from '../../../mail-format/summary.js';
import type { BlobStore } from '../../../store/blobs.js';
import type { InlineMessages, MessageHandle } from '../../../store/inline/inline-messages.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { DeliveryAttempt, OutboundRow } from '../../../store/outbound.js';
import type { DeliveryReport } from '../../delivery/delivery-transport.js';
import type { HostedDelivery } from '../../delivery/local-transport.js';
import type { DeclaredReads } from '../../runtime/behavior.js';
import type { MailboxState } from '../state/state.js';

interface Recipient {
  readonly address: string;
  readonly domain: string;
}

/** What a command about outbound mail reads before it is planned. */
export interface OutboundReads {
  /** The email whose row is needed. */
  readonly id?: string | undefined;
  /** Whether the summary of its message is needed as well. */
  readonly needsSummary?: boolean;
  /** Whether the command makes the email due if it is held: needs the summary, and the outcomes of recipients in hosted domains. */
  readonly mayRelease?: boolean;
  /** A message that the command makes due for the first time. An inline message is not stored yet. */
  readonly due?: MessageHandle & { readonly recipients: readonly Recipient[] };
  /** The Message-ID of a message that comes back: the emails with it are needed, and their attempts. */
  readonly returned?: string;
}

/** The reads of a command that needs the row of an outbound email. */
export const rowToRead = ({ outboundId: id }: { readonly outboundId: string }) => ({ outbound: { id } });

export interface BouncedEmail {
  readonly id: string;
  /** Oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
}

export interface OutboundPrefetched {
  /** Rows by id; null when there is no such email. An id without an entry was not read. */
  readonly rows: ReadonlyMap<string, OutboundRow | null>;
  /** Summaries by id of the outbound email. */
  readonly summaries: ReadonlyMap<string, MessageSummary>;
  /**
   * The outcomes of recipients in hosted domains, by the payload of each command that makes an email due for the first time. The
   * recipients' ids are their numbers in the email.
   */
  readonly hosted: ReadonlyMap<unknown, readonly DeliveryReport[]>;
  /** Emails whose message comes back, by the payload of the command that delivers the bounce. */
  readonly bounced: ReadonlyMap<unknown, readonly BouncedEmail[]>;
  /** The reason why something is missing. */
  readonly fault?: unknown;
}

export const NO_OUTBOUND: OutboundPrefetched = {
  rows: new Map(),
  summaries: new Map(),
  hosted: new Map(),
  bounced: new Map(),
};

export interface OutboundPrefetchSources {
  readonly store: Pick<MailboxStore, 'outboundRows' | 'outboundOfMessage' | 'outboundAttempts'>;
  readonly blobs: Pick<BlobStore, 'index'>;
  readonly inlineMessages: Pick<InlineMessages, 'find'>;
  readonly outbound: { readonly hosted: HostedDelivery };
  readonly log: Pick<Logger, 'warn'>;
}

/** A message that the command makes due for the first time. */
interface DueMessage {
  readonly payload: unknown;
  readonly blob: string;
  /** Only for a message that is not stored yet. */
  readonly index?: MessageIndex;
  readonly recipients: readonly Recipient[];
}

interface Wanted {
  readonly ids: readonly string[];
  readonly local: readonly string[];
  readonly queued: readonly DueMessage[];
  /** Commands that release the email with this id if it is held. */
  readonly releasing: readonly (readonly [id: string, payload: unknown])[];
  /** Deliveries of bounces, each with the Message-ID that it returns. */
  readonly bounces: readonly (readonly [payload: unknown, messageId: string])[];
}

/** Undefined when there is nothing to read. */
export function prefetchOutbound(
  sources: OutboundPrefetchSources,
  state: MailboxState,
  declared: readonly DeclaredReads<{ readonly outbound?: OutboundReads }>[],
): Promise<OutboundPrefetched> | undefined {
  const ids = new Set<string>();
  const local = new Set<string>();
  const queued: DueMessage[] = [];
  const releasing: [string, unknown][] = [];
  const bounces: [unknown, string][] = [];
  for (const { payload, reads } of declared) {
    if (reads.outbound === undefined) continue;
    const { id, needsSummary, mayRelease, due, returned } = reads.outbound;
    if (due !== undefined) queued.push(...dueOf(sources, payload, due));
    if (returned !== undefined) bounces.push([payload, returned]);
    if (id === undefined || !isUuid(id)) continue;
    const known = state.outbound.get(id);
    if (known === undefined) ids.add(id);
    if (mayRelease === true) releasing.push([id, payload]);
    if (known?.summary === undefined && (mayRelease === true || needsSummary === true)) local.add(id);
  }
  if (ids.size + local.size + queued.length + releasing.length + bounces.length === 0) return undefined;
  return read(sources, state, { ids: [...ids], local: [...local], queued, releasing, bounces });
}

/** Returns the message, unless it is an inline message that is no longer open. */
function dueOf(
  { inlineMessages }: Pick<OutboundPrefetchSources, 'inlineMessages'>,
  payload: unknown,
  due: NonNullable<OutboundReads['due']>,
): readonly DueMessage[] {
  const { recipients } = due;
  if ('blob' in due) return [{ payload, blob: due.blob, recipients }];
  const inlineMessage = inlineMessages.find(due.inlineId);
  if (inlineMessage?.isOpen !== true) return [];
  const { hash: blob, index } = inlineMessage.message.content;
  return [{ payload, blob, index, recipients }];
}

/** Never rejects: recipients that could not be looked up are delivered from the queue. */
async function hostedOf(
  { outbound, log }: OutboundPrefetchSources,
  { accountId }: MailboxState,
  queued: readonly DueMessage[],
): Promise<OutboundPrefetched['hosted']> {
  const judged = queued.map(async ({ payload, blob, index, recipients: addressees }) => {
    const byDomain = new Map<string, { id: string; address: string }[]>();
    for (const [i, { address, domain }] of addressees.entries()) {
      const recipient = { id: String(i), address };
      const others = byDomain.get(domain);
      if (others === undefined) byDomain.set(domain, [recipient]);
      else others.push(recipient);
    }
    const tasks = [...byDomain].map(([domain, recipients]) =>
      outbound.hosted({ domain, recipients, blob, index }).catch((err: unknown) => {
        log.warn({ accountId, domain, err }, 'recipients could not be looked up: they are delivered from the queue');
        return undefined;
      }),
    );
    const reports = (await Promise.all(tasks)).filter((report) => report !== undefined);
    return [payload, reports] as const;
  });
  return new Map(await Promise.all(judged));
}

async function read(
  sources: OutboundPrefetchSources,
  state: MailboxState,
  { ids: named, local, queued, releasing, bounces }: Wanted,
): Promise<OutboundPrefetched> {
  const { store, blobs } = sources;
  const judged = hostedOf(sources, state, queued);
  const rows = new Map<string, OutboundRow | null>();
  const summaries = new Map<string, MessageSummary>();
  const released: DueMessage[] = [];
  let fault: { readonly fault: unknown } | undefined;
  let bounced: OutboundPrefetched['bounced'] = new Map();
  try {
    bounced = await bouncedOf(store, state, bounces);
    const returned = [...bounced.values()].flat().map(({ id }) => id);
    const ids = [...new Set([...named, ...returned.filter((id) => state.outbound.get(id) === undefined)])];
    const read = ids.length === 0 ? [] : await store.outboundRows(state.accountId, ids);
    const found = new Map(read.map((row) => [row.id, row]));
    for (const id of ids) rows.set(id, found.get(id) ?? null);
    const rowOf = (id: string) => state.outbound.get(id)?.row ?? rows.get(id);
    for (const [id, payload] of releasing) {
      const row = rowOf(id);
      if (row != null && row.heldUntil !== null) released.push({ payload, blob: row.blob, recipients: row.recipients });
    }
    for (const id of local) {
      const blob = rowOf(id)?.blob;
      const index = blob === undefined ? undefined : await blobs.index(blob);
      if (index !== undefined) summaries.set(id, summarize(index));
    }
  } catch (error) {
    fault = { fault: error };
  }
  const hosted = new Map([...(await judged), ...(await hostedOf(sources, state, released))]);
  return { rows, summaries, hosted, bounced, ...fault };
}

async function bouncedOf(
  store: OutboundPrefetchSources['store'],
  { accountId }: MailboxState,
  bounces: Wanted['bounces'],
): Promise<OutboundPrefetched['bounced']> {
  const found = new Map<unknown, BouncedEmail[]>();
  for (const [payload, messageId] of bounces) {
    const ids = await store.outboundOfMessage(accountId, messageId);
    const emails = ids.map(async (id) => ({ id, attempts: await store.outboundAttempts(accountId, id) }));
    found.set(payload, await Promise.all(emails));
  }
  return found;
}
