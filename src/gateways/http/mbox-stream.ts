// The octets of an MBOX export. It reads pages of emails from the mailbox, and many blobs per statement. One batch is read while the
// previous one is on its way to the client, so memory is limited for any export and any client.
import type { ExportedEmail, ExportPosition, Mailboxes, MailboxProtocol } from '../../actors/mailbox/protocol.js';
import type { Outcome } from '../../actors/runtime/protocol.js';
import { fromLine, MboxQuoter } from '../../mail-format/mbox.js';
import type { BlobStore } from '../../store/blobs.js';
import type { Period } from './fields.js';

/** `folder`: id or role. */
type Criteria = Period & { readonly folder?: string };

const PAGE = 500;
/** Limits of a batch that is read in one statement. */
const BATCH_OCTETS = 1024 * 1024;
const BATCH_EMAILS = 250;
/** Larger messages are streamed on their own. */
const LARGE_OCTETS = 256 * 1024;

export interface MboxSources {
  readonly mailboxes: Mailboxes;
  readonly blobs: Pick<BlobStore, 'readAll' | 'stream'>;
}

type Blobs = ReadonlyMap<string, Uint8Array>;
interface Batch {
  readonly emails: readonly ExportedEmail[];
  /** Undefined when the batch is one large message. */
  readonly blobs: Promise<Blobs> | undefined;
}

/** Skips emails that are deleted while it runs. Stops reading when the consumer returns early. */
export async function* mboxStream(
  { mailboxes, blobs }: MboxSources,
  accountId: string,
  criteria: Criteria,
  limit: number,
): AsyncGenerator<Uint8Array> {
  const batches = batchesOf(emailsOf(mailboxes, accountId, criteria, limit), blobs);
  let next = batches.next();
  try {
    for (;;) {
      const { value: batch, done } = await next;
      if (done === true) return;
      next = batches.next();
      next.catch(() => {});
      if (batch.blobs === undefined) yield* large(batch.emails[0]!, blobs);
      else yield whole(batch.emails, await batch.blobs);
    }
  } finally {
    void batches.return();
  }
}

async function* emailsOf(
  mailboxes: Mailboxes,
  accountId: string,
  criteria: Criteria,
  limit: number,
): AsyncGenerator<readonly ExportedEmail[]> {
  let place: ExportPosition | null = null;
  for (let left = limit; left > 0; ) {
    const wanted = Math.min(PAGE, left);
    const outcome: Outcome<MailboxProtocol, 'exportPage'> = await mailboxes
      .of(accountId)
      .ask('exportPage', { ...criteria, place, limit: wanted });
    if (outcome.reply === undefined) return;
    yield outcome.reply.emails;
    left -= wanted;
    place = outcome.reply.place;
    if (place === null) return;
  }
}

async function* batchesOf(
  pages: AsyncIterable<readonly ExportedEmail[]>,
  blobs: MboxSources['blobs'],
): AsyncGenerator<Batch, void> {
  let emails: ExportedEmail[] = [];
  let octets = 0;
  const batch = (): Batch => {
    const read = blobs.readAll([...new Set(emails.map(({ blob }) => blob))]);
    read.catch(() => {});
    const full = { emails, blobs: read };
    emails = [];
    octets = 0;
    return full;
  };
  for await (const page of pages) {
    for (const email of page) {
      const isLarge = email.size > LARGE_OCTETS;
      const isFull = emails.length >= BATCH_EMAILS || octets + email.size > BATCH_OCTETS;
      if (emails.length > 0 && (isLarge || isFull)) yield batch();
      if (isLarge) {
        yield { emails: [email], blobs: undefined };
        continue;
      }
      emails.push(email);
      octets += email.size;
    }
  }
  if (emails.length > 0) yield batch();
}

function whole(emails: readonly ExportedEmail[], blobs: Blobs): Buffer {
  const pieces: Uint8Array[] = [];
  for (const { blob, fromAddress, receivedAt } of emails) {
    const bytes = blobs.get(blob);
    if (bytes === undefined) continue;
    const quoter = new MboxQuoter();
    pieces.push(Buffer.from(fromLine(fromAddress, receivedAt)), quoter.push(bytes), quoter.end());
  }
  return Buffer.concat(pieces);
}

async function* large(
  { blob, fromAddress, receivedAt, size }: ExportedEmail,
  blobs: MboxSources['blobs'],
): AsyncGenerator<Uint8Array> {
  const quoter = new MboxQuoter();
  yield Buffer.from(fromLine(fromAddress, receivedAt));
  for await (const piece of blobs.stream(blob, 0, size)) yield quoter.push(piece);
  yield quoter.end();
}
