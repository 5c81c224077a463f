// Messages in threads, each thread in the order of the dates: what the threading algorithms of RFC 5256 give. Trees are
// columns of numbers, so a thread of 10,000 messages, each a reply to the one before, needs no recursion.
import { ascending, sortedStepwise } from './stepwise-sort.js';

/** What threading must know of a message. Messages are numbered from 0 in the order of the mailbox. */
export interface ThreadedMessage {
  /** Its own and those that it refers to, as `thread-ids.ts` packs them. */
  readonly ids: string;
  /** ms since the epoch. */
  readonly sentAt: number;
  /** The base subject, as it is compared. */
  readonly subject: string;
  readonly isReplyOrForward: boolean;
}

export const NONE = -1;

export interface ThreadForest {
  /** A node below this number is the message of that number; any other is a parent that is not there. */
  readonly messageCount: number;
  /** By node; NONE when there is none. */
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
  readonly firstRoot: number;
}

/** The place of each message among all by date. Yields now and then. */
export function* placesByDate(messages: readonly ThreadedMessage[]): Generator<void, Int32Array> {
  return inverse(yield* orderByDate(messages));
}

function inverse(order: Uint32Array): Int32Array {
  const places = new Int32Array(order.length);
  for (let place = 0; place < order.length; place++) places[order[place]!] = place;
  return places;
}

/** Messages of one date are in the order of the mailbox. */
function orderByDate(messages: readonly ThreadedMessage[]): Generator<void, Uint32Array> {
  const dates = Float64Array.from(messages, ({ sentAt }) => sentAt);
  return sortedStepwise(ascending(messages.length), (a, b) => dates[a]! - dates[b]!);
}

/**
 * The forest of these parents, siblings in the order of their places. Nodes from `places.length` on are placed by the first
 * of their children, and left out without one.
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
  // The root that holds a message: the message itself, or its parent that is not there.
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

/** ORDEREDSUBJECT: the messages of one base subject are the children of the first of them. Yields now and then. */
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
