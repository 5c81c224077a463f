// The threading algorithm REFERENCES (RFC 5256 §3): messages are linked by the ids that they refer to, then threads with one base subject
// are joined. The step numbers are those of the RFC. A dummy represents a message that is referred to but missing.
import { forestOf, NONE, placesByDate, type ThreadedMessage, type ThreadForest } from './thread-forest.js';
import { idAt, referenceCount } from './thread-ids.js';

/** The index of a message's own id among its ids. */
const OWN = 0;
/** The links followed or made between two yields. */
const STEPS = 2000;

/** Yields periodically, so that the caller can let other work run. */
export function* threadsByReferences(messages: readonly ThreadedMessage[]): Generator<void, ThreadForest> {
  const places = yield* placesByDate(messages);
  const links = new Links(messages);
  yield* links.nameMessages();
  for (let node = 0; node < messages.length; node++) {
    links.addMessage(node);
    if (links.steps < STEPS) continue;
    links.steps = 0;
    yield;
  }
  const threads = new Threads(messages, places, prunedParents(links.parents, messages.length));
  yield;
  yield* threads.joinBySubject();
  return forestOf(threads.parents, places);
}

/** Step 1: finds the parent of each message, including dummies. */
class Links {
  readonly parents: number[];
  steps = 0;
  readonly #messages: readonly ThreadedMessage[];
  readonly #childCounts: number[];
  readonly #nodes = new Map<string, number>();

  constructor(messages: readonly ThreadedMessage[]) {
    this.#messages = messages;
    this.parents = new Array<number>(messages.length).fill(NONE);
    this.#childCounts = new Array<number>(messages.length).fill(0);
  }

  /** Called before any message is added. If several messages have the same id, the first keeps it; the others have none. */
  *nameMessages(): Generator<void, void> {
    for (let node = 0; node < this.#messages.length; node++) {
      const id = idAt(this.#messages[node]!.ids, OWN);
      if (id !== '' && !this.#nodes.has(id)) this.#nodes.set(id, node);
      if (node % STEPS === STEPS - 1) yield;
    }
  }

  addMessage(node: number): void {
    const { ids } = this.#messages[node]!;
    const last = referenceCount(ids);
    let parent = NONE;
    for (let place = OWN + 1; place <= last; place++) {
      const child = this.#nodeOf(idAt(ids, place));
      if (parent !== NONE && this.parents[child] === NONE) this.#link(parent, child);
      parent = child;
      this.steps++;
    }
    this.steps++;
    if (this.parents[node] === parent) return;
    this.#unlink(node);
    if (parent !== NONE) this.#link(parent, node);
  }

  /** Returns a dummy when no message has the id. */
  #nodeOf(id: string): number {
    let node = this.#nodes.get(id);
    if (node === undefined) {
      node = this.parents.push(NONE) - 1;
      this.#childCounts.push(0);
      this.#nodes.set(id, node);
    }
    return node;
  }

  #unlink(child: number): void {
    const parent = this.parents[child]!;
    if (parent === NONE) return;
    this.#childCounts[parent]!--;
    this.parents[child] = NONE;
  }

  /** Links the two unless that would make a loop. */
  #link(parent: number, child: number): void {
    if (parent === child || (this.#childCounts[child]! > 0 && this.#isBelow(parent, child))) return;
    this.parents[child] = parent;
    this.#childCounts[parent]!++;
  }

  #isBelow(node: number, ancestor: number): boolean {
    for (let above = this.parents[node]!; above !== NONE; above = this.parents[above]!) {
      this.steps++;
      if (above === ancestor) return true;
    }
    return false;
  }
}

/**
 * Steps 2 and 3: each message becomes the child of the nearest message above it. If all above are dummies, it becomes the child of the
 * topmost one, provided that this one has other children too.
 */
function prunedParents(parents: readonly number[], messageCount: number): number[] {
  const anchors = new Int32Array(parents.length).fill(NONE);
  /** Returns the nearest message from this dummy upwards, otherwise the topmost dummy. Each dummy is visited once. */
  const anchorOf = (dummy: number): number => {
    const passed: number[] = [];
    let node = dummy;
    while (node >= messageCount && anchors[node] === NONE && parents[node] !== NONE) {
      passed.push(node);
      node = parents[node]!;
    }
    const anchor = node >= messageCount && anchors[node] !== NONE ? anchors[node]! : node;
    for (const each of passed) anchors[each] = anchor;
    return anchor;
  };
  const pruned = new Array<number>(parents.length).fill(NONE);
  const childCounts = new Int32Array(parents.length);
  for (let node = 0; node < messageCount; node++) {
    const parent = parents[node]!;
    if (parent === NONE) continue;
    const anchor = parent < messageCount ? parent : anchorOf(parent);
    pruned[node] = anchor;
    childCounts[anchor]!++;
  }
  for (let node = 0; node < messageCount; node++) {
    const parent = pruned[node]!;
    if (parent >= messageCount && childCounts[parent] === 1) pruned[node] = NONE;
  }
  return pruned;
}

/** Steps 4 and 5: joins the threads by subject. Every dummy that has children is a root. */
class Threads {
  readonly parents: number[];
  readonly #messages: readonly ThreadedMessage[];
  readonly #places: Int32Array;
  readonly #children = new Map<number, number[]>();
  readonly #table = new Map<string, number>();

  constructor(messages: readonly ThreadedMessage[], places: Int32Array, parents: number[]) {
    this.#messages = messages;
    this.#places = places;
    this.parents = parents;
  }

  /** Yields after each step. */
  *joinBySubject(): Generator<void, void> {
    const roots = this.#rootsByDate();
    yield;
    const subjects = roots.map(
      (root) => this.#messages[this.#isDummy(root) ? this.#children.get(root)![0]! : root]!.subject,
    );
    yield;
    for (const [i, root] of roots.entries()) this.#enter(root, subjects[i]!);
    yield;
    for (const [i, root] of roots.entries()) this.#join(root, subjects[i]!);
    yield;
  }

  /** Step 4. The children of dummies are sorted by their dates too. */
  #rootsByDate(): number[] {
    const byPlace = new Int32Array(this.#messages.length);
    for (let node = 0; node < byPlace.length; node++) byPlace[this.#places[node]!] = node;
    const roots: number[] = [];
    for (const node of byPlace) {
      const parent = this.parents[node]!;
      if (parent === NONE) roots.push(node);
      if (parent < this.#messages.length) continue;
      const children = this.#children.get(parent);
      if (children !== undefined) children.push(node);
      else {
        this.#children.set(parent, [node]);
        roots.push(parent);
      }
    }
    return roots;
  }

  /** Step 5.B. */
  #enter(root: number, subject: string): void {
    if (subject === '') return;
    const entered = this.#table.get(subject);
    const replaces =
      entered === undefined ||
      (!this.#isDummy(entered) && (this.#isDummy(root) || (this.#isReply(entered) && !this.#isReply(root))));
    if (replaces) this.#table.set(subject, root);
  }

  /** Step 5.C. */
  #join(root: number, subject: string): void {
    const entered = this.#table.get(subject);
    if (subject === '' || entered === undefined || entered === root) return;
    if (this.#isDummy(root)) {
      // The table then has a dummy for this subject too (5.B).
      for (const child of this.#children.get(root)!) this.parents[child] = entered;
    } else if (this.#isDummy(entered) || (this.#isReply(root) && !this.#isReply(entered))) {
      this.parents[root] = entered;
    } else {
      const dummy = this.parents.push(NONE) - 1;
      this.parents[root] = dummy;
      this.parents[entered] = dummy;
      this.#table.set(subject, dummy);
    }
  }

  #isDummy(node: number): boolean {
    return node >= this.#messages.length;
  }

  #isReply(node: number): boolean {
    return this.#messages[node]!.isReplyOrForward;
  }
}
