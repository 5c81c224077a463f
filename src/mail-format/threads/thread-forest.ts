// Messages in threads, each thread in the order of the dates: the result of the threading algorithms of RFC 5256. Trees are columns of
// numbers, so a thread of 10,000 messages, each a reply to the previous one, needs no recursion.
import { ascending, sortedStepwise } from '../stepwise-sort.js';

/** The data of a message that threading needs. Messages are numbered from 0 in the order of the mailbox. */
export interface ThreadedMessage {
  /** The message's own id and those that it refers to, as `thread-ids.ts` packs them. */
  readonly ids: string;
  /** ms since the epoch. */
  readonly sentAt: number;
  /** The base subject, in the form in which it is compared. */
  readonly subject: string;
  readonly isReplyOrForward: boolean;
}

export const NONE = -1;

export interface ThreadForest {
  /** A node below this number is the message with that number; any other is a parent that is not in the mailbox. */
  readonly messageCount: number;
  /** Indexed by node; NONE when there is no child. */
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
  readonly firstRoot: number;
}

/** Returns the position of each message among all by date. Yields periodically. */
export function* placesByDate(messages: readonly ThreadedMessage[]): Generator<void, Int32Array> {
  return inverse(yield* orderByDate(messages));
}

function inverse(order: Uint32Array): Int32Array {
  const places = new Int32Array(order.length);
  for (let place = 0; place < order.length; place++) places[order[place]!] = place;
  return places;
}

/** Messages of the same date stay in the order of the mailbox. */
function orderByDate(messages: readonly ThreadedMessage[]): Generator<void, Uint32Array> {
  const dates = Float64Array.from(messages, ({ sentAt }) => sentAt);
  return sortedStepwise(ascending(messages.length), (a, b) => dates[a]! - dates[b]!);
}

/**
 * Returns the forest with these parents, siblings in the order of their places. Nodes from `places.length` on take the place of their first
 * child, and are left out without one.
 */
export function forestOf(parents: readonly number[], places: Int32Array): ThreadForest {
  const messageCount = places.length;
  const byPlace = new Int32Array(messageCount);
  for (let node = 0; node < messageCount; node++) byPlace[places[node]!] = node;
  const firstChild = new Int32Array(parents.length).fill(NONE);
  const nextSibling = new Int32Array(parents.length).fill(NONE);
  for (let place = messageCount - 1; place >= 0; place--) {
    const node = byPlace[place]!;
    const parent = parents[node]!;
    if (parent === NONE) continue;
    nextSibling[node] = firstChild[parent]!;
    firstChild[parent] = node;
  }
  // The root is the message itself, or its parent when that is not in the mailbox.
  let firstRoot = NONE;
  for (let place = messageCount - 1; place >= 0; place--) {
    const node = byPlace[place]!;
    const parent = parents[node]!;
    const isFirstOfAbsent = parent >= messageCount && firstChild[parent] === node;
    if (parent !== NONE && !isFirstOfAbsent) continue;
    const root = parent === NONE ? node : parent;
    nextSibling[root] = firstRoot;
    firstRoot = root;
  }
  return { messageCount, firstChild, nextSibling, firstRoot };
}

/** ORDEREDSUBJECT: the messages with one base subject are the children of the first of them. Yields periodically. */
export function* threadsBySubject(messages: readonly ThreadedMessage[]): Generator<void, ThreadForest> {
  const order = yield* orderByDate(messages);
  const parents = new Array<number>(messages.length).fill(NONE);
  const first = new Map<string, number>();
  for (const node of order) {
    const { subject } = messages[node]!;
    const parent = first.get(subject);
    if (parent === undefined) first.set(subject, node);
    else parents[node] = parent;
  }
  return forestOf(parents, inverse(order));
}
