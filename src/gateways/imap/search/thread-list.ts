// Formats an untagged THREAD (RFC 5256 §4): a message is followed by its only child, or by several children as lists in
// parentheses. It does not recurse, because senders decide how deep threads are.
import { NONE, type ThreadForest } from '../../../mail-format/threads/thread-forest.js';

/** Marks the end of a list among the nodes that are still to be written. */
const CLOSE = -2;

/** Nodes that are written between two yields. */
const STEPS = 4_000;

/** `numbers` are those of the messages, as the client knows them. Returns '' without threads. Yields so that others can run. */
export function* threadList(
  { messageCount, firstChild, nextSibling, firstRoot }: ThreadForest,
  numbers: ArrayLike<number>,
): Generator<void, string> {
  let text = '';
  let steps = 0;
  const open: number[] = [];
  const openSiblings = (first: number): void => {
    const siblings: number[] = [];
    for (let node = first; node !== NONE; node = nextSibling[node]!) siblings.push(node);
    for (let i = siblings.length - 1; i >= 0; i--) open.push(siblings[i]!);
  };
  openSiblings(firstRoot);
  while (open.length > 0) {
    let node = open.pop()!;
    if (node === CLOSE) {
      text += ')';
      continue;
    }
    text += '(';
    open.push(CLOSE);
    for (let isFirst = true; ; isFirst = false) {
      if (++steps % STEPS === 0) yield;
      if (node < messageCount) text += isFirst ? numbers[node] : ` ${numbers[node]}`;
      const child = firstChild[node]!;
      if (child === NONE) break;
      if (nextSibling[child] !== NONE) {
        if (node < messageCount) text += ' ';
        openSiblings(child);
        break;
      }
      node = child;
    }
  }
  return text;
}
