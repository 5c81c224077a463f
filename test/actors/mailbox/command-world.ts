// Creates an account for tests of single commands, whose messages are appended.
import { createHash, randomUUID } from 'node:crypto';
import { mailboxWorld } from './mailbox-world.js';

export const blobOf = (text: string) => createHash('sha256').update(text).digest('hex');

export const summary = (subject: string, messageId: string | null = null, size = 10) => ({
  messageId,
  inReplyTo: null,
  references: [],
  fromAddress: `${subject.toLowerCase()}@remote.test`,
  fromName: '',
  subject,
  preview: '',
  size,
  hasAttachments: false,
  attachmentCount: 0,
});

/** Returns a unique message for `append`. */
export const message = (flags: string[] = [], { receivedAt = 1, size = 10 } = {}) => ({
  blob: blobOf(randomUUID()),
  summary: summary('s', null, size),
  receivedAt,
  flags,
});

/** Returns a world with an account, and functions that append messages to its folders. */
export async function start() {
  const world = await mailboxWorld();
  const account = await world.directory.createAccount(`${randomUUID()}@example.test`, 'x');
  const mailbox = world.mailboxes.of(account.id);
  const append = async (folderId: string, subject: string, of: { id?: string; at?: number; flags?: string[] } = {}) => {
    const { id = null, at = Date.now(), flags = [] } = of;
    const blob = blobOf(`${subject} ${randomUUID()}`);
    return mailbox.ask('append', {
      folderId,
      messages: [{ blob, summary: summary(subject, id), receivedAt: at, flags }],
    });
  };
  const types = async () => (await world.events.read(account.id, 0, 1000)).map(({ type, payload }) => [type, payload]);
  return { world, account, mailbox, append, types };
}
