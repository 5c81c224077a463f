// Messages with the headers that scripts have edited. Each is content of its own, because the message as it came may belong to other accounts
// too. A plan asks for it; it is stored, then the commands are planned again, so the commit refers to stored content (decision 0112).
import { createHash } from 'node:crypto';
import { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import type { MessageIndex } from '../../../mail-format/message-index.js';
import { MimeIndexer } from '../../../mail-format/mime-index/indexer.js';
import { editedHeader, type HeaderEdit } from '../../../mail-format/sieve/header-edit.js';
import { type MessageSummary, summarize } from '../../../mail-format/summary.js';
import type { BlobStore } from '../../../store/blobs.js';
import { StoreFault } from '../../../store/errors.js';

/** Content and summary of a message. */
export interface MessageForm {
  readonly blob: string;
  readonly summary: MessageSummary;
}

/** A message whose header a script has edited. */
export interface WantedEdit {
  /** The message as it came. */
  readonly blob: string;
  readonly edit: HeaderEdit;
  /** The envelope sender, '' for the null sender. */
  readonly sender: string;
  /** The message begins with trace fields of the MX, which stay. */
  readonly isChecked: boolean;
}

/** What was stored, by key; or the fault that prevented it. */
export type EditedForms = ReadonlyMap<string, MessageForm | { readonly fault: unknown }>;

type Blobs = Pick<BlobStore, 'index' | 'read' | 'put'>;

/** The octets that all edited messages of a node, and those of one account, have in memory. */
const MOST_OCTETS = 64 * 1024 * 1024;
const MOST_OCTETS_OF_ACCOUNT = 32 * 1024 * 1024;
/** The time for which a message waits for memory. */
const WAITING_MS = 1_500;

/** The accounts of the node share it. */
const memory = new FairSemaphore({ total: MOST_OCTETS, share: MOST_OCTETS_OF_ACCOUNT });

const keyOf = ({ blob, edit, sender, isChecked }: WantedEdit): string =>
  JSON.stringify([blob, edit.deleted, edit.first, edit.last, sender, isChecked]);

/** The edited messages that the commands of a transaction ask for. */
export class EditedMessages {
  /** Those that the plan needs and does not have, by key. */
  readonly unread = new Map<string, WantedEdit>();
  readonly #stored: EditedForms;

  constructor(stored: EditedForms = new Map()) {
    this.#stored = stored;
  }

  /** Undefined when it must be stored first. */
  get(wanted: WantedEdit): MessageForm | { readonly fault: unknown } | undefined {
    const key = keyOf(wanted);
    const found = this.#stored.get(key);
    if (found === undefined) this.unread.set(key, wanted);
    return found;
  }
}

/** Stores the edited messages, and adds them to those that were stored before. Never rejects: a message that is not stored has its fault. */
export async function storeEdited(
  blobs: Blobs,
  accountId: string,
  before: EditedForms | undefined,
  wanted: EditedMessages['unread'],
): Promise<EditedForms> {
  const forms = new Map(before);
  // One after the other: each may be large.
  for (const [key, one] of wanted)
    forms.set(key, await stored(blobs, accountId, one).catch((fault: unknown) => ({ fault })));
  return forms;
}

async function stored(blobs: Blobs, accountId: string, wanted: WantedEdit): Promise<MessageForm> {
  const { blob, edit, sender, isChecked } = wanted;
  const index = await blobs.index(blob);
  if (index === undefined) throw new Error(`there is no blob ${blob}`);
  const signal = AbortSignal.timeout(WAITING_MS);
  const permit = await memory.acquire(accountId, { weight: index.size, signal }).catch(() => {
    throw new StoreFault('store-unavailable', 'too many messages are edited at once', { temporary: true });
  });
  try {
    const { buffer, byteOffset, byteLength } = await blobs.read(blob, 0, index.size);
    const content = editedContent(index, Buffer.from(buffer, byteOffset, byteLength), edit);
    await blobs.put(content);
    return { blob: content.hash, summary: summarize(content.index, sender, isChecked) };
  } finally {
    permit.release();
  }
}

/** The body is not copied. */
function editedContent({ root }: MessageIndex, message: Buffer, edit: HeaderEdit) {
  const pieces = [editedHeader(message.subarray(0, root.bodyStart), edit), message.subarray(root.bodyStart)];
  const hash = createHash('sha256');
  const indexer = new MimeIndexer();
  for (const piece of pieces) {
    hash.update(piece);
    indexer.push(piece);
  }
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  return { hash: hash.digest('hex'), size, index: indexer.finish(), chunks: () => pieces };
}
