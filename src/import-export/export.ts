// An export writes the mail of an account into a Maildir, folder by folder. One statement reads many small messages; large ones
// are streamed. Emails that are deleted meanwhile are left out.
import type { BlobStore } from '../store/blobs.js';
import type { ExportRow } from '../store/mailbox-rows.js';
import { MaildirFolderWriter } from './maildir-writer.js';
import { type MailReading, StoredMail, type StoredPlacement } from './stored-mail.js';

/** One statement reads the rows of this many placements. */
const PAGE = 500;
/** Small messages with about this many octets are read together. */
const BATCH_OCTETS = 4 * 1024 * 1024;
/** Larger messages are streamed. */
const LARGE_OCTETS = 256 * 1024;
/** This many files are written concurrently. */
const AT_ONCE = 8;

export interface ExportOptions {
  readonly mailboxes: MailReading;
  readonly blobs: Pick<BlobStore, 'readAll' | 'stream'>;
  readonly accountId: string;
  readonly directory: string;
  /** Reports keywords of a folder for which Maildir has no letters left. */
  withoutKeywords(folder: string, keywords: readonly string[]): void;
  progressed(counts: ExportCounts, total: number): void;
}

export interface ExportCounts {
  readonly exported: number;
  /** Messages that the directory already has. */
  readonly skipped: number;
}

interface Wanted {
  readonly placement: StoredPlacement;
  readonly row: ExportRow;
}

export async function exportMail(options: ExportOptions): Promise<ExportCounts> {
  const { mailboxes, accountId, directory } = options;
  const mail = await StoredMail.read(mailboxes, accountId);
  const writers = new Map<string, MaildirFolderWriter>();
  for (const { id, path } of mail.folders) writers.set(id, await MaildirFolderWriter.open(directory, path));
  let exported = 0;
  let skipped = 0;
  for await (const { folderId, placed } of mail.placements()) {
    const writer = writers.get(folderId);
    // The folder was made after the export began.
    if (writer === undefined) continue;
    const missing = placed.filter(({ emailId }) => !writer.holds(emailId));
    skipped += placed.length - missing.length;
    const left = await writer.declare(new Set(missing.flatMap(({ flags }) => flags)));
    if (left.length > 0) options.withoutKeywords(mail.folders.find(({ id }) => id === folderId)!.path, left);
    for (let at = 0; at < missing.length; at += PAGE) {
      for (const batch of batchesOf(await rowsOf(options, missing.slice(at, at + PAGE)))) {
        exported += await write(options, writer, batch);
        options.progressed({ exported, skipped }, mail.count);
      }
    }
  }
  return { exported, skipped };
}

async function rowsOf({ mailboxes, accountId }: ExportOptions, placed: readonly StoredPlacement[]): Promise<Wanted[]> {
  const ids = placed.map(({ emailId }) => emailId);
  const rows = new Map((await mailboxes.exportRows(accountId, ids)).map((row) => [row.id, row]));
  return placed.flatMap((placement) => {
    const row = rows.get(placement.emailId);
    return row === undefined ? [] : [{ placement, row }];
  });
}

/** Each large message is a batch of its own. */
function* batchesOf(wanted: readonly Wanted[]): Generator<readonly Wanted[], void> {
  let batch: Wanted[] = [];
  let octets = 0;
  for (const each of wanted) {
    if (each.row.size > LARGE_OCTETS) {
      yield [each];
      continue;
    }
    batch.push(each);
    octets += each.row.size;
    if (octets < BATCH_OCTETS) continue;
    yield batch;
    batch = [];
    octets = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Returns how many were written. */
async function write({ blobs }: ExportOptions, writer: MaildirFolderWriter, batch: readonly Wanted[]): Promise<number> {
  const [first] = batch;
  if (batch.length === 1 && first!.row.size > LARGE_OCTETS) {
    const { blob, size } = first!.row;
    await writer.write(messageOf(first!), blobs.stream(blob, 0, size));
    return 1;
  }
  const bytes = await blobs.readAll([...new Set(batch.map(({ row }) => row.blob))]);
  const waiting = batch.filter(({ row }) => row.size === 0 || bytes.has(row.blob));
  const work = async () => {
    for (let each = queue.shift(); each !== undefined; each = queue.shift()) {
      await writer.write(messageOf(each), bytes.get(each.row.blob) ?? new Uint8Array());
    }
  };
  const queue = [...waiting];
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return waiting.length;
}

function messageOf({ placement: { emailId, uid, flags }, row: { size, receivedAt } }: Wanted) {
  return { emailId, uid, flags, size, receivedAt };
}
