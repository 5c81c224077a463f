// The outbound part of the store of mailboxes, in memory. The queue of all accounts is a separate port, which is not implemented here.
import type { MailboxStore } from '../../../src/store/mailboxes.js';
import type { OutboundRow } from '../../../src/store/outbound.js';
import { compare, type MemoryTables, type OutboundRecord } from './tables.js';

const MOST_ATTEMPTS = 1_000;

type OutboundReading = Pick<
  MailboxStore,
  | 'outboundRows'
  | 'outboundOfCopies'
  | 'blindRecipients'
  | 'outboundOfMessage'
  | 'outboundPage'
  | 'outboundCounts'
  | 'outboundContent'
  | 'outboundAttempts'
  | 'outboundWaiting'
>;

export function outboundReading(tables: MemoryTables): OutboundReading {
  const of = (accountId: string) => tables.of(accountId).outbound;
  return {
    outboundRows: async (accountId, ids) =>
      [...new Set(ids)].flatMap((id) => of(accountId).get(id) ?? []).map(wholeRow),
    async outboundOfMessage(accountId, messageId) {
      return [...of(accountId).values()]
        .filter(({ row }) => row.messageId === messageId && row.status !== 'Draft')
        .sort((a, b) => b.row.createdAt - a.row.createdAt)
        .slice(0, 10)
        .map(({ row }) => row.id);
    },
    async outboundOfCopies(accountId, emailIds) {
      const found = [...of(accountId).values()].flatMap(({ row: { id, emailId, status } }) =>
        emailId !== null && emailIds.includes(emailId) && status !== 'Draft' ? [[emailId, id] as const] : [],
      );
      return new Map(found);
    },
    async blindRecipients(accountId, emailIds) {
      const sent = [...of(accountId).values()].map(wholeRow).filter(({ status }) => status !== 'Draft');
      const found = emailIds.map((emailId) => {
        const { origin, messageId = null } = tables.of(accountId).emails.get(emailId) ?? {};
        const isCopy = (row: OutboundRow) =>
          row.emailId === emailId || (origin === 'sent' && messageId !== null && row.messageId === messageId);
        const blind = sent.filter(isCopy).flatMap(({ recipients }) => recipients.filter(({ type }) => type === 'Bcc'));
        return [emailId, blind.map(({ address, displayName }) => ({ address, displayName }))] as const;
      });
      return new Map(found.filter(([, blind]) => blind.length > 0));
    },
    async outboundPage(accountId, statuses, without, page, pageSize) {
      return [...of(accountId).values()]
        .filter(({ row }) => statuses.includes(row.status) && !without.includes(row.id))
        .sort((a, b) => b.row.createdAt - a.row.createdAt || compare(b.row.id, a.row.id))
        .slice((page - 1) * pageSize, page * pageSize)
        .map(wholeRow);
    },
    async outboundCounts(accountId, statuses) {
      const { modseq, outbound } = tables.of(accountId);
      const count = (status: string) => [...outbound.values()].filter(({ row }) => row.status === status).length;
      return {
        modseq,
        counts: new Map(tables.accounts.has(accountId) ? statuses.map((status) => [status, count(status)]) : []),
      };
    },
    async outboundWaiting(accountId) {
      const times = [...tables.accounts.values()].flatMap(({ outbound }) => [...outbound.values()].map(timeOf));
      return [...of(accountId).values()]
        .filter((record) => timeOf(record) !== null)
        .sort((a, b) => timeOf(a)! - timeOf(b)!)
        .slice(0, 10)
        .map((record) => {
          const at = timeOf(record)!;
          const dueInMs = at - Date.now();
          const ahead = times.filter((time) => time !== null && time < at).length;
          return { id: record.row.id, dueInMs, ahead: dueInMs > 0 ? null : ahead };
        });
    },
    outboundContent: async (accountId, id) => of(accountId).get(id)?.content,
    async outboundAttempts(accountId, id) {
      const attempts = [...(of(accountId).get(id)?.attempts.values() ?? [])];
      return attempts.sort((a, b) => a.at - b.at || compare(a.id, b.id)).slice(-MOST_ATTEMPTS);
    },
  };
}

/** Returns when a queued email is due; null when it is held, waits for its release, or is not queued. */
function timeOf({ row }: OutboundRecord): number | null {
  return row.status === 'Queued' && !row.awaitsRelease ? row.nextRetryAt : null;
}

function wholeRow({ row, recipients }: OutboundRecord): OutboundRow {
  const sorted = [...recipients.values()].sort((a, b) => a.position - b.position);
  return { ...row, recipients: sorted.map(({ recipient }) => recipient) };
}
