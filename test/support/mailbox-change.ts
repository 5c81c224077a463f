// Changes of a mailbox for tests of the store: one without content that a test fills, and records of outbound mail.
import type { Change, ChangeContent } from '../../src/store/changes/changes.js';
import type { MailboxChange } from '../../src/store/mailboxes.js';
import type { OutboundContent, OutboundRow, OutboundStatus } from '../../src/store/outbound.js';

export function emptyChange(accountId: string, epoch: number, modseqBefore: number): MailboxChange {
  return {
    accountId,
    epoch,
    modseqBefore,
    modseqAfter: modseqBefore + 1,
    changes: [],
    counters: [],
    inbound: [],
    contents: [],
    shared: [],
    remembered: [],
  };
}

/** Returns the records of one command. */
export function records(contents: readonly ChangeContent[], seq = 1, at = 0): Change[] {
  return contents.map((content) => ({ ...content, seq, at }) as Change);
}

/** Returns an outbound email after a change; `recipients` are the ids of the changed ones, or all of them. */
export function outboundRecords(
  row: OutboundRow,
  before: OutboundStatus | null = null,
  recipients: 'all' | readonly string[] = 'all',
  content?: OutboundContent | null,
): ChangeContent[] {
  const { machine: _machine, recipients: all, ...outbound } = row;
  const recipientIds = recipients === 'all' ? { recipientIds: all.map(({ id }) => id) } : {};
  const isSameMessage = before !== null && before !== 'Draft' && recipients !== 'all';
  const written = all.flatMap((recipient, position): ChangeContent[] =>
    recipients === 'all' || recipients.includes(recipient.id)
      ? [{ type: 'RecipientChanged', payload: { outboundId: row.id, position, recipient } }]
      : [],
  );
  return [
    {
      type: 'OutboundChanged',
      payload: { outbound, before, passed: [row.status], ...recipientIds },
      storedOnly: { row, isSameMessage, ...(content === undefined ? {} : { content }) },
    },
    ...written,
  ];
}
