// Messages with the index that the MIME indexer would give them, put into the fakes.
import type { IndexedAddress, IndexedAttachment, IndexedPart, MessageIndex } from '../../../src/mail/message-index.js';
import type { FakeBlobs, FakeMailboxes } from './fakes.js';

interface Attachment {
  readonly fileName: string;
  readonly contentType: string;
  readonly content: Uint8Array;
  /** What the index says, when it is to be wrong. */
  readonly claimedSize?: number;
}

export interface MailFixture {
  readonly id: string;
  readonly folder?: 'inbox' | 'sent';
  readonly from?: string;
  readonly subject?: string;
  readonly text?: string;
  readonly isRead?: boolean;
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

export function addMail(mailboxes: FakeMailboxes, blobs: FakeBlobs, accountId: string, mail: MailFixture): void {
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
  const list = mailboxes.emails.get(accountId) ?? [];
  mailboxes.emails.set(accountId, list);
  list.push({
    id,
    blob: blobs.add(bytes, index),
    fromAddress: from,
    fromDisplayName: 'Sender',
    subject,
    receivedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
    isRead: mail.isRead ?? false,
    isFlagged: false,
    isAnswered: false,
    folderIds: ['018f0000-0000-7000-8000-0000000000ee'],
    threadId: mail.threadId ?? '018f0000-0000-7000-8000-0000000000ff',
    messageId,
    inReplyTo: mail.references?.at(-1) ?? null,
    references: [...(mail.references ?? [])],
    sizeBytes: bytes.length,
    labels: [{ id: '018f0000-0000-7000-8000-0000000000ee', name: 'Work', color: '#aabbcc' }],
    folder: mail.folder ?? 'inbox',
    preview: text.trim(),
    attachmentCount: attachments.length,
  });
}
