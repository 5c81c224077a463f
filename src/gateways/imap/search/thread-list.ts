// The text of an untagged THREAD (RFC 5256 §4): a message and its only child follow each other, several children are lists in
// parentheses. Written without recursion, because threads are as deep as their senders like.
import { NONE, type ThreadForest } from '../../../mail/thread-forest.js';

/** The end of a list, between nodes that are still to be written. */
const CLOSE = -2;

/** `numbers`: of the messages, as the client knows them. Empty for no thread. */
export function threadList(
  { messageCount, firstChild, nextSibling, firstRoot }: ThreadForest,
  numbers: ArrayLike<number>,
): string {
  let text = '';
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
