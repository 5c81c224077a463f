// What a user sees of a store, over REST and IMAP. Two stores with the same view have the same mail.
import { createHash } from 'node:crypto';
import { ImapFlow } from 'imapflow';
import { port } from '../../../dev/node-accounts.js';
import { type EmailList, type EmailView, MailboxClient } from '../../support/clients/mailbox-client.js';
import type { TestNode } from '../../support/node.js';

type StoreView = Awaited<ReturnType<typeof viewOf>>;

/** What dev/released has of the store of a version. */
export interface RecordedStore {
  /** The key of the account with the mail. */
  readonly key: string;
  /** The identity of age that opens the backup. */
  readonly identity: string;
  readonly view: StoreView;
}

export const OWNER = 'zoe@example.test';
/** What is searched for: a word of a subject, of a body, and of an HTML part. */
const WORDS = ['invoice', 'Zo%C3%AB', 'umbrella'];

export async function viewOf(node: TestNode, key: string) {
  const client = new MailboxClient(node, key);
  const emails = await client.inbox();
  const details = [];
  for (const { id } of emails) {
    const { subject, textBody, attachments } = await client.get<EmailView>(`/api/emails/${id}`);
    details.push({ subject, textBody, attachments: attachments.map(({ fileName, size }) => ({ fileName, size })) });
  }
  const found: Record<string, readonly string[]> = {};
  for (const word of WORDS) {
    const { items } = await client.get<EmailList>(`/api/emails/search?query=${word}`);
    found[word] = items.map(({ subject }) => subject).toSorted();
  }
  const titles = async (path: string) => (await client.get<EmailList>(path)).items.map(({ subject }) => subject);
  return {
    emails: emails.map(({ id, subject, isRead, receivedAt }) => ({ id, subject, isRead, receivedAt })),
    details,
    found,
    labels: await client.get('/api/labels'),
    filters: await client.get<Readonly<Record<string, unknown>>[]>('/api/filters'),
    drafts: await titles('/api/outbound/drafts'),
    outbox: await titles('/api/outbound/outbox'),
    sent: await titles('/api/folders/sent/emails'),
    folders: await foldersOf(node, key),
  };
}

/** Folder → UID → flags and the SHA-256 of the message. */
async function foldersOf(node: TestNode, key: string) {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: port(node, 'imap'),
    auth: { user: OWNER, pass: key },
    tls: { rejectUnauthorized: false },
    logger: false,
  });
  await client.connect();
  const folders: Record<string, Record<string, string>> = {};
  for (const { path } of await client.list()) {
    await client.mailboxOpen(path, { readOnly: true });
    const messages: Record<string, string> = {};
    for await (const { uid, flags, source } of client.fetch('1:*', { uid: true, flags: true, source: true })) {
      const known = [...flags!].filter((flag) => flag !== '\\Recent').sort();
      messages[uid] = `${known} ${createHash('sha256').update(source!).digest('hex')}`;
    }
    folders[path] = messages;
  }
  await client.logout();
  return folders;
}
