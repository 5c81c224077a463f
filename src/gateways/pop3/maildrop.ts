// The maildrop of one session: the messages that the inbox had when the session began (RFC 1939 §3, §5), numbered from 1, and the marks
// of deletion. They are packed into 24 bytes per message. The owner of the mailbox keeps the lock on the maildrop.
import {
  type Mailboxes,
  type MailboxProtocol,
  unpackIds,
  unpackSizes,
  unpackUids,
} from '../../actors/mailbox/protocol.js';
import type { Reply as ReplyOf } from '../../actors/runtime/protocol.js';
import { uuidText } from '../../mail-format/ids.js';
import { newId } from '../../store/ids/new-id.js';

/** In ms. A renewal that takes longer is dropped, and the next one tries again. */
const RENEWAL_MS = 4_000;
/** One message to the owner has a bounded size; 10,000 messages form at most this many ranges. */
const MOST_RANGES = 10_000;

type Ref = ReturnType<Mailboxes['of']>;
type UidRange = [first: number, last: number];

export interface MaildropMessage {
  readonly number: number;
  readonly uid: number;
  /** Octets. */
  readonly size: number;
}

interface Columns {
  readonly uids: Uint32Array;
  readonly sizes: Uint32Array;
  /** Four words per id. */
  readonly ids: Uint32Array;
}

export class Maildrop {
  readonly folderId: string;
  readonly #ref: Ref;
  readonly #sessionId: string;
  readonly #columns: Columns;
  /** The numbers of the messages that are marked as deleted. */
  readonly #deleted = new Set<number>();
  #isRenewing = false;

  constructor(ref: Ref, sessionId: string, folderId: string, columns: Columns) {
    this.#ref = ref;
    this.#sessionId = sessionId;
    this.folderId = folderId;
    this.#columns = columns;
  }

  /** The highest number; messages marked as deleted have numbers too. */
  get highest(): number {
    return this.#columns.uids.length;
  }

  /** Returns undefined when no message has this number, or it is marked as deleted. */
  at(number: number): MaildropMessage | undefined {
    const { uids, sizes } = this.#columns;
    if (number < 1 || number > uids.length || this.#deleted.has(number)) return undefined;
    return { number, uid: uids[number - 1]!, size: sizes[number - 1]! };
  }

  /** Returns the UID, also of a message that is marked as deleted. */
  uidOf(number: number): number {
    return this.#columns.uids[number - 1]!;
  }

  /** The id of the email, which is the same in every session, on every node and at every gateway. */
  idOf(number: number): string {
    const octets = new Uint8Array(16);
    const view = new DataView(octets.buffer);
    for (let word = 0; word < 4; word++) view.setUint32(word * 4, this.#columns.ids[(number - 1) * 4 + word]!);
    return uuidText(octets);
  }

  /** Yields the messages that are not marked as deleted. */
  *messages(): Generator<MaildropMessage> {
    for (let number = 1; number <= this.highest; number++) {
      const message = this.at(number);
      if (message !== undefined) yield message;
    }
  }

  /** The number of messages that are not marked as deleted, and the sum of their sizes. */
  get drop(): { readonly count: number; readonly octets: number } {
    let octets = 0;
    for (const size of this.#columns.sizes) octets += size;
    for (const number of this.#deleted) octets -= this.#columns.sizes[number - 1]!;
    return { count: this.highest - this.#deleted.size, octets };
  }

  delete(number: number): void {
    this.#deleted.add(number);
  }

  reset(): void {
    this.#deleted.clear();
  }

  get deletedCount(): number {
    return this.#deleted.size;
  }

  /** Renews the lock. Returns false when another session has it. When the mailbox does not answer, the lock may be renewed later. */
  async renew(): Promise<boolean> {
    if (this.#isRenewing) return true;
    this.#isRenewing = true;
    try {
      const options = { deadlineMs: RENEWAL_MS };
      const { reply } = await this.#ref.ask('keepMaildrop', { sessionId: this.#sessionId }, options);
      return reply?.kind !== 'inUse';
    } catch {
      return true;
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Frees the lock and deletes nothing. If the owner does not answer, the lock expires. */
  async close(): Promise<void> {
    await this.#ref.ask('closeMaildrop', { sessionId: this.#sessionId }).catch(() => {});
  }

  /**
   * Deletes the marked messages, in one commit if they are up to 10,000, and frees the lock. Returns false when another session has
   * it: nothing more was deleted then. @throws ActorFault, after it has freed the lock
   */
  async quit(): Promise<boolean> {
    const ranges = this.#deletedRanges();
    try {
      for (let from = 0; from < ranges.length; from += MOST_RANGES) {
        const isLast = from + MOST_RANGES >= ranges.length;
        if (!(await this.#remove(ranges.slice(from, from + MOST_RANGES), isLast))) return false;
      }
      return true;
    } catch (error) {
      void this.close();
      throw error;
    }
  }

  /** `isLast` frees the lock. Returns false when another session has it. @throws ActorFault */
  async #remove(uids: UidRange[], isLast: boolean): Promise<boolean> {
    for (;;) {
      const { reply } = await this.#ref.ask('quitMaildrop', { sessionId: this.#sessionId, uids, isLast });
      if (reply?.kind !== 'open') return false;
      if (reply.isComplete) return true;
    }
  }

  #deletedRanges(): UidRange[] {
    const ranges: UidRange[] = [];
    for (let number = 1; number <= this.highest; number++) {
      if (!this.#deleted.has(number)) continue;
      const uid = this.#columns.uids[number - 1]!;
      const last = ranges.at(-1);
      if (last !== undefined && uid === last[1] + 1) last[1] = uid;
      else ranges.push([uid, uid]);
    }
    return ranges;
  }
}

/** Returns undefined when another session has the maildrop. @throws ActorFault */
export async function openMaildrop(ref: Ref): Promise<Maildrop | undefined> {
  const sessionId = newId();
  const { reply } = await ref.ask('openMaildrop', { sessionId });
  if (reply?.kind !== 'open') return undefined;
  try {
    return new Maildrop(ref, sessionId, reply.folderId, await columnsOf(ref, reply.uidNext));
  } catch (error) {
    void ref.ask('closeMaildrop', { sessionId }).catch(() => {});
    throw error;
  }
}

async function columnsOf(ref: Ref, belowUid: number): Promise<Columns> {
  const pages: Columns[] = [];
  for (let fromUid: number | null = 1; fromUid !== null; ) {
    const page: ReplyOf<MailboxProtocol, 'maildropPage'> = (await ref.ask('maildropPage', { fromUid, belowUid }))
      .reply!;
    const { uids, sizes, emailIds } = page;
    pages.push({ uids: unpackUids(uids), sizes: unpackSizes(sizes), ids: unpackIds(emailIds) });
    fromUid = page.nextUid;
  }
  return {
    uids: joined(pages.map(({ uids }) => uids)),
    sizes: joined(pages.map(({ sizes }) => sizes)),
    ids: joined(pages.map(({ ids }) => ids)),
  };
}

function joined(parts: readonly Uint32Array[]): Uint32Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
