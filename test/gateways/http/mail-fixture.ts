// Puts messages (with the index that the MIME indexer gives them) and labels into mailboxes.

import { SEEN } from '../../../src/mail-format/flags.js';
import type {
  IndexedAddress,
  IndexedAttachment,
  IndexedPart,
  MessageIndex,
} from '../../../src/mail-format/message-index.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { type MessageSummary, summarize } from '../../../src/mail-format/summary.js';
import type { FolderDefinition } from '../../../src/store/mailbox-rows.js';
import { records } from '../../support/mailbox-change.js';
import type { FakeBlobs } from './fakes.js';
import type { TestMailboxes } from './mailboxes.js';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
export const THREAD_ID = '018f0000-0000-7000-8000-0000000000ff';

interface Attachment {
  readonly fileName: string;
  readonly contentType: string;
  readonly content: Uint8Array;
  /** The size in the index, when a test wants it to be wrong. */
  readonly claimedSize?: number;
}

export interface MailFixture {
  readonly id: string;
  readonly folder?: 'inbox' | 'sent';
  readonly from?: string;
  readonly subject?: string;
  readonly text?: string;
  readonly isRead?: boolean;
  /** Ids of labels. */
  readonly labels?: readonly string[];
  readonly threadId?: string;
  readonly messageId?: string | null;
  readonly to?: readonly IndexedAddress[];
  readonly cc?: readonly IndexedAddress[];
  readonly references?: readonly string[];
  readonly attachments?: readonly Attachment[];
  readonly truncated?: MessageIndex['truncated'];
}

const PLAIN = {
  id: null,
  description: null,
  disposition: null,
  dispositionParams: {},
  language: [],
  location: null,
  lines: 0,
  parts: [],
  envelope: null,
  params: {},
};

export function addMail(mailboxes: TestMailboxes, blobs: FakeBlobs, accountId: string, mail: MailFixture): void {
  const { id, attachments = [], text = 'Hello.\r\n', subject = 'Subject', from = 'sender@remote.test' } = mail;
  const pieces: Uint8Array[] = [Buffer.from(`From: ${from}\r\nSubject: ${subject}\r\nX-Id: ${id}\r\n\r\n`)];
  let at = pieces[0]!.length;
  const parts: IndexedPart[] = [];
  const indexed: IndexedAttachment[] = [];
  const put = (bytes: Uint8Array, type: string, subtype: string, encoding: string): void => {
    const section = String(parts.length + 1);
    parts.push({
      ...PLAIN,
      section,
      type,
      subtype,
      encoding,
      headerStart: at,
      bodyStart: at,
      bodyEnd: at + bytes.length,
    });
    pieces.push(bytes);
    at += bytes.length;
  };
  put(Buffer.from(text), 'text', 'plain', '8bit');
  for (const attachment of attachments) {
    const [type = '', subtype = ''] = attachment.contentType.split('/');
    const coded = Buffer.from(attachment.content).toString('base64').replace(/.{76}/g, '$&\r\n');
    put(Buffer.from(coded), type, subtype, 'base64');
    indexed.push({
      section: String(parts.length),
      fileName: attachment.fileName,
      contentType: attachment.contentType,
      size: attachment.claimedSize ?? attachment.content.length,
      contentId: null,
      inline: false,
    });
  }
  const bytes = Buffer.concat(pieces);
  const messageId = mail.messageId === undefined ? `<${id}@remote.test>` : mail.messageId;
  const index: MessageIndex = {
    version: 1,
    size: bytes.length,
    envelope: {
      date: null,
      sentAt: null,
      subject,
      from: [{ name: 'Sender', address: from }],
      sender: [],
      replyTo: [],
      to: mail.to ?? [{ name: 'Alice', address: 'alice@example.test' }],
      cc: mail.cc ?? [],
      bcc: [],
      messageId,
      inReplyTo: mail.references?.at(-1) ?? null,
      references: mail.references ?? [],
    },
    root: {
      ...PLAIN,
      section: '',
      type: 'multipart',
      subtype: 'mixed',
      encoding: '7bit',
      headerStart: 0,
      bodyStart: pieces[0]!.length,
      bodyEnd: bytes.length,
      parts,
    },
    textSections: ['1'],
    htmlSections: [],
    attachments: indexed,
    preview: text.trim(),
    receivedCount: 0,
    deliveredTo: [],
    truncated: mail.truncated ?? [],
  };
  deliver(
    mailboxes,
    accountId,
    mail,
    { ...summarize(index), references: [...summarize(index).references] },
    blobs.add(bytes, index),
  );
}

/** Adds an email with these octets. */
export function addRawMail(
  mailboxes: TestMailboxes,
  blobs: FakeBlobs,
  accountId: string,
  mail: Pick<MailFixture, 'id'>,
  octets: Uint8Array,
): void {
  const index = indexMessage(octets);
  const summary = summarize(index);
  deliver(mailboxes, accountId, mail, { ...summary, references: [...summary.references] }, blobs.add(octets, index));
}

/** Adds a label that no email has. */
export function addLabel(
  mailboxes: TestMailboxes,
  accountId: string,
  label: Pick<FolderDefinition, 'id' | 'name' | 'color'>,
) {
  const folder: FolderDefinition = {
    ...label,
    role: 'label',
    sortOrder: 0,
    isSubscribed: true,
    uidValidity: 1,
    createdAt: AT,
  };
  const counters = { id: label.id, uidNext: 1, total: 0, unread: 0, highestModseq: 1 };
  const changes = records(
    [{ type: 'FolderCreated', payload: { folder } }],
    mailboxes.account(accountId).modseq + 1,
    AT,
  );
  mailboxes.put(accountId, { changes, counters: [counters] });
}

function deliver(
  mailboxes: TestMailboxes,
  accountId: string,
  { id, folder = 'inbox', isRead = false, labels = [], threadId = THREAD_ID }: MailFixture,
  summary: MessageSummary,
  blob: string,
): void {
  const { modseq, folders } = mailboxes.account(accountId);
  const rows = [mailboxes.folderId(accountId, folder), ...labels].map((folderId) => folders.get(folderId)!);
  const email = { ...summary, id, blob, threadId, receivedAt: AT, flags: isRead ? SEEN : 0, keywords: [] };
  const placements = rows.map((row) => ({ folderId: row.id, uid: row.uidNext }));
  const counters = rows.map((row) => ({
    id: row.id,
    uidNext: row.uidNext + 1,
    total: row.total + 1,
    unread: row.unread + (isRead ? 0 : 1),
    highestModseq: modseq + 1,
  }));
  const changes = records([{ type: 'EmailAdded', payload: { email, placements, isNew: true } }], modseq + 1, AT);
  mailboxes.put(accountId, { changes, counters });
}
