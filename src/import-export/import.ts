// An import writes messages of a source as rows to the store, batch by batch, and a node places them. Messages that their folder
// already holds are skipped, so an interrupted import continues when it is run again. The next batch is read while one is
// written; when a node is running, reading waits while too many rows wait.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { flagBit, isDeletedFlag, isKeyword } from '../mail-format/flags.js';
import { summarize } from '../mail-format/summary.js';
import { type BlobContent, blobOf } from '../store/blobs.js';
import { StoreFault } from '../store/errors.js';
import type { ImportedMessage, ImportStore } from '../store/imports.js';
import type { Limits } from '../store/limits/quotas.js';
import type { MailSource, SourceCheckpoint, SourceItem, SourceMessage } from './source.js';

/** A batch ends once it has this many messages or octets. */
const BATCH_MESSAGES = 1_000;
const BATCH_OCTETS = 8 * 1024 * 1024;
/** The messages of one transaction, which locks the account, end once they have this number or these octets. */
const WRITE_MESSAGES = 200;
const WRITE_OCTETS = 2 * 1024 * 1024;
/** At most this many rows wait while a node places them. */
const MOST_WAITING = 2_000;
const POLL_MS = 20;
/** Bounds of the dates that messages may have. */
const EARLIEST = Date.UTC(1900, 0);
const LATEST = Date.UTC(9999, 11, 31);
/** The import does not wait for a node that has placed nothing for this time. */
const PATIENCE_MS = 30_000;

export interface ImportOptions {
  readonly imports: ImportStore;
  readonly accountId: string;
  readonly source: MailSource;
  readonly label?: string | undefined;
  /** What the account may still get; null: no limit. */
  readonly room?: Limits;
  /** Whether a node is running that places the rows. */
  isServed(): Promise<boolean>;
  /** Reports a message that was not imported. */
  failed(where: string, problem: string): void;
  progressed(counts: ImportCounts): void;
}

export interface ImportCounts {
  /** Messages that this import has stored. */
  readonly imported: number;
  /** Messages that the account already has. */
  readonly skipped: number;
  /** Messages that could not be imported. */
  readonly failed: number;
  /** Messages that are stored and not placed yet. */
  readonly waiting: number;
  /** The import has ended early, because the next message would exceed the quota. */
  readonly isFull?: true;
}

class MailboxFull extends Error {}

/** Resolves when everything is placed, or when no node places it. @throws StoreFault, and the errors of the source */
export async function importMail(options: ImportOptions): Promise<ImportCounts> {
  const run = new ImportRun(options);
  let isFull = false;
  try {
    await importAll(options, run);
  } catch (error) {
    if (!(error instanceof MailboxFull)) throw error;
    isFull = true;
  }
  await run.settle(0);
  return isFull ? { ...run.counts, isFull } : run.counts;
}

async function importAll(options: ImportOptions, run: ImportRun): Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of batchesOf(options.source.items())) {
      await writing;
      writing = run.write(batch);
      // The next batch is read meanwhile; a later `await` of the same promise handles a rejection.
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
}

/** Yields what was read before the source failed, and then throws its error. */
async function* batchesOf(items: AsyncIterable<SourceItem>): AsyncGenerator<readonly SourceItem[], void> {
  let batch: SourceItem[] = [];
  let octets = 0;
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const item of items) {
      batch.push(item);
      octets += item.kind === 'message' ? item.bytes.length : 0;
      if (batch.length < BATCH_MESSAGES && octets < BATCH_OCTETS) continue;
      yield batch;
      batch = [];
      octets = 0;
    }
  } catch (error) {
    failure = { error };
  }
  if (batch.length > 0) yield batch;
  if (failure !== undefined) throw failure.error;
}

interface Read {
  readonly message: SourceMessage;
  readonly content: BlobContent;
}

class ImportRun {
  readonly #options: ImportOptions;
  #imported = 0;
  #skipped = 0;
  #failed = 0;
  #waiting = 0;
  /** A message was refused after the last checkpoint. */
  #isRefused = false;
  /** Sources with a refused message. */
  readonly #gaps = new Set<string>();
  /** A node is alive but places nothing. */
  #isStuck = false;
  /** What the account may still get; null: no limit. */
  #room: Limits;

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#room = options.room ?? { bytes: null, messages: null };
  }

  get counts(): ImportCounts {
    return { imported: this.#imported, skipped: this.#skipped, failed: this.#failed, waiting: this.#waiting };
  }

  async write(batch: readonly SourceItem[]): Promise<void> {
    let messages: SourceMessage[] = [];
    for (const item of batch) {
      if (item.kind === 'message') messages.push(item);
      else if (item.kind === 'failure') this.#fail(item);
      else if (item.kind === 'skip') this.#skipped += item.count;
      else {
        await this.#take(messages);
        messages = [];
        await this.#reach(item);
      }
    }
    await this.#take(messages);
    await this.settle(MOST_WAITING);
  }

  /** Stores the position, unless the store refused a message of the source: the next run reads it again. */
  async #reach({ source, uidValidity, uid }: SourceCheckpoint): Promise<void> {
    const { imports, accountId } = this.#options;
    if (this.#isRefused) this.#gaps.add(source);
    this.#isRefused = false;
    if (!this.#gaps.has(source)) await imports.setPosition(accountId, source, { uidValidity, uid });
  }

  /** Waits until at most `most` rows wait, as long as a node places them. */
  async settle(most: number): Promise<void> {
    const { imports, accountId } = this.#options;
    let since = performance.now();
    let isServed: boolean | undefined;
    for (let least = Number.POSITIVE_INFINITY; ; await delay(POLL_MS)) {
      this.#waiting = await imports.waiting(accountId);
      this.#options.progressed(this.counts);
      if (this.#waiting <= most || this.#isStuck) return;
      isServed ??= await this.#options.isServed();
      this.#isStuck = performance.now() - since > PATIENCE_MS;
      if (!isServed || this.#isStuck) return;
      if (this.#waiting >= least) continue;
      least = this.#waiting;
      since = performance.now();
    }
  }

  async #take(messages: readonly SourceMessage[]): Promise<void> {
    const groups = new Map<string, SourceMessage[]>();
    for (const message of messages) {
      const key = `${message.isCopy === true} ${message.folder}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [message]);
      else group.push(message);
    }
    for (const group of groups.values()) {
      for (const part of partsOf(await this.#missing(group))) await this.#addWithin(part);
    }
  }

  /** Returns the messages of one folder that the folder does not hold yet. */
  async #missing(group: readonly SourceMessage[]): Promise<readonly Read[]> {
    const { imports, accountId } = this.#options;
    const { folder, isCopy } = group[0]!;
    const hashes = group.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex'));
    const present = await imports.present(accountId, isCopy === true ? undefined : folder, hashes);
    const missing = group.filter((_, i) => !present.has(hashes[i]!));
    this.#skipped += group.length - missing.length;
    return missing.map((message) => ({ message, content: blobOf(message.bytes) }));
  }

  /** Adds the messages for which there is room. @throws MailboxFull when there is none for the next one */
  async #addWithin(part: readonly Read[]): Promise<void> {
    const fitting = part.findIndex(({ content }) => !this.#reserve(content.size));
    const added = fitting < 0 ? part : part.slice(0, fitting);
    if (added.length > 0) await this.#add(added);
    if (fitting >= 0) throw new MailboxFull();
  }

  /** Returns false when a message of this size would exceed the quota. */
  #reserve(size: number): boolean {
    const { bytes, messages } = this.#room;
    if (messages === 0 || (bytes !== null && size > bytes)) return false;
    this.#room = { bytes: bytes && bytes - size, messages: messages && messages - 1 };
    return true;
  }

  async #add(part: readonly Read[]): Promise<void> {
    const { imports, accountId, label } = this.#options;
    const messages = part.map(({ message, content }) => importedMessage(message, content, label));
    try {
      const added = await imports.add(accountId, messages);
      this.#imported += added;
      this.#skipped += part.length - added;
    } catch (error) {
      if (!(error instanceof StoreFault) || error.temporary || error.code === 'store-conflict') throw error;
      // One refused message must not hold up the others, so each is added alone.
      if (part.length > 1) for (const read of part) await this.#add([read]);
      else {
        this.#isRefused = true;
        this.#fail({ where: part[0]!.message.where, problem: error.message });
      }
    }
    this.#options.progressed(this.counts);
  }

  #fail({ where, problem }: { readonly where: string; readonly problem: string }): void {
    this.#failed++;
    this.#options.failed(where, problem);
  }
}

function* partsOf(read: readonly Read[]): Generator<readonly Read[], void> {
  let part: Read[] = [];
  let octets = 0;
  for (const each of read) {
    part.push(each);
    octets += each.content.size;
    if (part.length < WRITE_MESSAGES && octets < WRITE_OCTETS) continue;
    yield part;
    part = [];
    octets = 0;
  }
  if (part.length > 0) yield part;
}

function importedMessage(message: SourceMessage, content: BlobContent, label: string | undefined): ImportedMessage {
  const { folder } = message;
  const flags = message.flags.filter(isFlag);
  const dates = [message.receivedAt, content.index.envelope.sentAt];
  const receivedAt = dates.find(isDate) ?? Date.now();
  const summary = summarize(content.index);
  return { content, envelope: { receivedAt, summary, folder, flags, ...(label !== undefined && { label }) } };
}

/** Whether an email can have the flag. A source may contain anything, such as names with NUL, which the store cannot keep. */
const isFlag = (name: string): boolean => flagBit(name) !== 0 || isDeletedFlag(name) || isKeyword(name);

/** Whether mail may have this time: clients read years of four digits. */
function isDate(time: number | null | undefined): time is number {
  return time !== undefined && time !== null && time >= EARLIEST && time <= LATEST;
}
