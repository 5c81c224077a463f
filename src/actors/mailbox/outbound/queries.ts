// Queries of outbound mail: rows come from memory while they are in the queue, otherwise from the store. Drafts whose emails have
// `\Deleted` in Drafts are hidden: a mail program has deleted them, or has sent them by submission.
import { isUuid } from '../../../mail-format/ids.js';
import { clock } from '../../../store/clock.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { DeliveryAttempt, OutboundDsn, OutboundRow, OutboundStatus } from '../../../store/outbound.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxState } from '../state/state.js';
import { owedBy } from './deliveries.js';
import type { DeliveryProtocol } from './delivery-protocol.js';
import type { AccountQueue } from './delivery-slots.js';
import type { OutboundEmail } from './protocol.js';

type Names = 'outbound' | 'outboundPage' | 'outboundTimeline';

async function count(store: MailboxStore, state: MailboxState, statuses: ReadonlySet<OutboundStatus>): Promise<number> {
  const unknown = [...statuses].filter((status) => state.outbound.count(status) === undefined);
  const counted = unknown.length === 0 ? undefined : await store.outboundCounts(state.accountId, unknown);
  if (counted !== undefined) state.outbound.learn(counted, state.modseq);
  const of = (status: OutboundStatus) => counted?.counts.get(status) ?? state.outbound.count(status) ?? 0;
  return [...statuses].reduce((sum, status) => sum + of(status), 0);
}

function hiddenDrafts(state: MailboxState): string[] {
  const folder = state.folderOf('drafts');
  if (folder.deletedCount === 0) return [];
  return [...state.outbound.drafts].flatMap(({ id, emailId }) => (isMarked(state, emailId) ? [id] : []));
}

function isMarked(state: MailboxState, emailId: string): boolean {
  const slot = state.emails.find(emailId);
  return slot >= 0 && state.folderOf('drafts').isDeleted(slot);
}

export function outboundQueries(store: MailboxStore): Pick<QueryHandlers<MailboxProtocol, MailboxState>, Names> {
  return {
    async outbound(state, { outboundId }) {
      const row = await findShown(store, state, outboundId);
      if (row === undefined) return { refusal: 'noSuchOutbound' };
      const content = (await store.outboundContent(state.accountId, outboundId)) ?? null;
      return { reply: { email: shown(state, row), content } };
    },

    async outboundPage(state, { statuses, page, pageSize }) {
      const hidden = statuses.includes('Draft') ? hiddenDrafts(state) : [];
      const rows = await store.outboundPage(state.accountId, statuses, hidden, page, pageSize);
      return {
        reply: {
          items: rows.map((row) => shown(state, row)),
          totalCount: (await count(store, state, new Set(statuses))) - hidden.length,
        },
      };
    },

    async outboundTimeline(state, { outboundId }) {
      if ((await findShown(store, state, outboundId)) === undefined) return { refusal: 'noSuchOutbound' };
      return { reply: { attempts: (await store.outboundAttempts(state.accountId, outboundId)).map(attempted) } };
    },
  };
}

/** The interval at which clients ask again while emails wait, because their positions change all the time. */
const SOON_MS = 1_000;
const MOST_POSITIONS = 10;

/** `queueOf`: returns the queue of the node that delivers for the account. */
export function queueQueries(
  store: MailboxStore,
  queueOf: (accountId: string) => AccountQueue,
): Pick<QueryHandlers<MailboxProtocol, MailboxState>, 'queuePositions'> {
  return {
    async queuePositions(state) {
      const { accountId } = state;
      const { shards, waiting } = queueOf(accountId);
      const [queued, sending] = await Promise.all([
        store.outboundWaiting(accountId, shards),
        count(store, state, new Set(['Sending'])),
      ]);
      const positions = [
        ...[...waiting].map(([outboundId, { domain, ahead }]) => ({ outboundId, ahead, domain })),
        ...queued.flatMap(({ id, ahead }) => (ahead === null ? [] : [{ outboundId: id, ahead, domain: null }])),
      ].slice(0, MOST_POSITIONS);
      const next = sending > 0 ? 0 : queued[0]?.dueInMs;
      return { reply: { positions, againInMs: next === undefined ? null : Math.max(SOON_MS, next) } };
    },
  };
}

/** Returns everything that a DSN is composed from. */
export function deliveryQueries(store: MailboxStore): QueryHandlers<DeliveryProtocol, MailboxState> {
  return {
    async dsnMaterial(state, { outboundId }) {
      const row = await find(store, state, outboundId);
      if (row === undefined) return { refusal: 'noSuchOutbound' };
      const attempts = await store.outboundAttempts(state.accountId, outboundId);
      const isDue = row.dsnAt === null || row.dsnAt <= clock.now();
      const kind = isDue ? row.dsnDue : null;
      return {
        reply: {
          kind,
          recipientIds: kind === null ? [] : [...owedBy(row, kind)],
          email: { ...shown(state, row), sender: row.dsn?.reportTo ?? row.sender },
          dsn: row.dsn === null ? null : shownDsn(row.dsn),
          attempts: attempts.map(attempted),
        },
      };
    },
  };
}

async function find(store: MailboxStore, state: MailboxState, id: string): Promise<OutboundRow | undefined> {
  if (!isUuid(id)) return undefined;
  return state.outbound.get(id)?.row ?? (await store.outboundRows(state.accountId, [id]))[0];
}

async function findShown(store: MailboxStore, state: MailboxState, id: string): Promise<OutboundRow | undefined> {
  const row = await find(store, state, id);
  return row?.status === 'Draft' && isMarked(state, row.emailId) ? undefined : row;
}

function attempted(attempt: DeliveryAttempt) {
  return { ...attempt, recipients: [...attempt.recipients] };
}

function shownDsn({ ret, envid, recipients }: OutboundDsn) {
  const named = Object.entries(recipients).map(
    ([id, { notify, orcpt }]) => [id, { notify: notify && [...notify], orcpt }] as const,
  );
  return { ret, envid, recipients: Object.fromEntries(named) };
}

function shown(state: MailboxState, row: OutboundRow): OutboundEmail {
  const { emailId, status } = row;
  return {
    id: row.id,
    status: row.status,
    blob: row.blob,
    sender: row.sender,
    subject: row.subject,
    messageId: row.messageId,
    inReplyTo: row.inReplyTo,
    references: [...row.references],
    size: row.size,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    sentAt: row.sentAt,
    retryCount: row.retryCount,
    nextRetryAt: row.nextRetryAt,
    heldUntil: row.heldUntil,
    lastError: row.lastError,
    recipients: row.recipients.map(({ domain: _domain, ...recipient }) => recipient),
    ...(status !== 'Draft' && state.findShown(emailId) >= 0 && { sentEmailId: emailId }),
  };
}
