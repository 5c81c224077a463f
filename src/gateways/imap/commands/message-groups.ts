// Splits the messages of a FETCH into groups whose responses are written together. A group is read from the cache or the store, with
// the octets of its small messages where these are needed, and is marked as seen where requested.

import type { Reservation } from '../../../concurrency/keyed-limiter.js';
import { SEEN } from '../../../mail-format/flags.js';
import { rangesOf } from '../mailboxes/uid-ranges.js';
import type { Message } from '../messages/message-source.js';
import { bodyReads, readAhead } from '../messages/read-ahead.js';
import type { FetchItems } from '../responses/fetch.js';
import { SMALL_OCTETS } from '../responses/message-octets.js';
import type { Selected, Session } from '../session.js';

/** Octets of small messages that are read at once; a session holds the same amount again while it writes. */
const GROUP_OCTETS = 512 * 1024;
/** Messages that are read at once if they fit into one group: mail programs mostly fetch one, or those that they show. */
const FEW = 32;
const SEEN_ADDED = { mode: 'add' as const, flags: ['\\Seen'] };

export interface MessageGroup {
  readonly messages: readonly Message[];
  /** The octets of small messages, by blob. */
  readonly octets: ReadonlyMap<string, Uint8Array>;
  /** UIDs of the messages that are `\Seen` because of this command. */
  readonly seen: ReadonlySet<number>;
  /** Octets that the group has reserved in `readAhead`. */
  readonly ahead: number;
}

const NO_OCTETS: ReadonlyMap<string, Uint8Array> = new Map();
const NOBODY: ReadonlySet<number> = new Set();

/** The groups of one command. */
export class MessageGroups {
  readonly #session: Session;
  readonly #selected: Selected;
  readonly #items: Pick<FetchItems, 'needs' | 'needsOctets'>;
  readonly #setsSeen: boolean;
  /** The octets of all groups. */
  readonly #ahead: Reservation;

  constructor(session: Session, items: Pick<FetchItems, 'needs' | 'needsOctets'>, setsSeen: boolean) {
    this.#session = session;
    this.#selected = session.selected!;
    this.#items = items;
    this.#setsSeen = setsSeen;
    this.#ahead = readAhead.charge(session.accountId, 0);
  }

  /** Returns all messages in one group, when they are few and small enough. */
  async few(uids: Uint32Array): Promise<MessageGroup | undefined> {
    if (uids.length > FEW) return undefined;
    const { accountId, context } = this.#session;
    const { folderId } = this.#selected;
    const reading = context.messages.read({ accountId, folderId }, uids, this.#items.needs);
    const messages = reading instanceof Promise ? await reading : reading;
    return this.#isOneGroup(messages) ? this.#group(messages) : undefined;
  }

  /** Yields all groups; the next group is read while one is written. */
  async *all(uids: Uint32Array): AsyncGenerator<MessageGroup> {
    const { accountId, context } = this.#session;
    const { folderId } = this.#selected;
    let loading: MessageGroup | Promise<MessageGroup> | undefined;
    for await (const batch of context.messages.batches({ accountId, folderId }, uids, this.#items.needs)) {
      for (const messages of this.#parted(batch)) {
        const before = loading;
        loading = this.#group(messages);
        // Nobody awaits the group when the caller stops early, so its fault is dropped.
        if (loading instanceof Promise) loading.catch(() => {});
        if (before === undefined) continue;
        const group = await before;
        yield group;
        this.#ahead.grow(-group.ahead);
      }
    }
    if (loading !== undefined) yield await loading;
  }

  /** Releases the reservations of all groups. */
  end(): void {
    this.#ahead.release();
  }

  #isOneGroup(messages: readonly Message[]): boolean {
    return !this.#items.needsOctets || octetsOf(messages.filter(isSmall)) <= GROUP_OCTETS;
  }

  /** Yields groups whose small messages can be read at once. */
  *#parted(batch: readonly Message[]): Generator<readonly Message[]> {
    if (!this.#items.needsOctets) {
      yield batch;
      return;
    }
    let start = 0;
    let octets = 0;
    for (const [i, message] of batch.entries()) {
      const size = isSmall(message) ? message.size : 0;
      if (octets + size > GROUP_OCTETS) {
        yield batch.slice(start, i);
        start = i;
        octets = 0;
      }
      octets += size;
    }
    yield batch.slice(start);
  }

  #group(messages: readonly Message[]): MessageGroup | Promise<MessageGroup> {
    let small = this.#items.needsOctets ? messages.filter(isSmall) : [];
    let ahead = octetsOf(small);
    if (!this.#ahead.grow(ahead)) {
      small = [];
      ahead = 0;
    }
    const unseen = this.#setsSeen ? this.#unseen(messages) : [];
    if (small.length === 0 && unseen.length === 0) return { messages, octets: NO_OCTETS, seen: NOBODY, ahead };
    return this.#load(messages, small, unseen, ahead);
  }

  async #load(
    messages: readonly Message[],
    small: readonly Message[],
    unseen: readonly number[],
    ahead: number,
  ): Promise<MessageGroup> {
    const { accountId, context } = this.#session;
    const blobs = small.map(({ blob }) => blob);
    const reading = blobs.length === 0 ? undefined : bodyReads.run(accountId, () => context.blobs.readAll(blobs));
    const marking = unseen.length === 0 ? undefined : this.#markSeen(unseen);
    if (marking === undefined) return { messages, octets: (await reading) ?? NO_OCTETS, seen: NOBODY, ahead };
    const [octets] = await Promise.all([reading, marking]);
    return { messages, octets: octets ?? NO_OCTETS, seen: new Set(unseen), ahead };
  }

  #unseen(messages: readonly Message[]): number[] {
    const { view } = this.#selected;
    return messages
      .map(({ uid }) => uid)
      .filter((uid) => {
        const index = view.indexAt(view.positionOf(uid));
        return index >= 0 && (view.mirror.flagsAt(index) & SEEN) === 0;
      });
  }

  /** Marks the messages as seen. A refusal (the folder is gone) is ignored, because the messages are still read. */
  async #markSeen(uids: readonly number[]): Promise<void> {
    const { context, accountId } = this.#session;
    const { folderId, view } = this.#selected;
    const selection = { folderId, uids: rangesOf(uids) };
    const { reply } = await context.mailboxes.of(accountId).ask('storeFlags', { selection, ...SEEN_ADDED });
    if (!view.mirror.takeFlags(uids, SEEN_ADDED, reply?.folderModseqs)) await view.mirror.sync();
  }
}

function isSmall({ size }: Message): boolean {
  return size <= SMALL_OCTETS;
}

function octetsOf(messages: readonly Message[]): number {
  let octets = 0;
  for (const { size } of messages) octets += size;
  return octets;
}
