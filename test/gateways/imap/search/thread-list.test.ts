// Tests the text of THREAD: the examples of RFC 5256 §4, and deep threads.

import { threadList } from '../../../../src/gateways/imap/search/thread-list.js';
import { NONE, type ThreadForest } from '../../../../src/mail-format/threads/thread-forest.js';
import test from '../../../support/test.js';

/** Runs all steps without yielding to other work. */
function written(forest: ThreadForest, numbers: ArrayLike<number>): string {
  const work = threadList(forest, numbers);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** A nested list, whose first number is the parent of the others; null is a parent without a message. */
type Tree = [node: number | null, ...children: Tree[]];

/** `numbers` are those of the messages. */
function forestOf(trees: readonly Tree[]): { readonly forest: ThreadForest; readonly numbers: number[] } {
  const numbers: number[] = [];
  const collect = ([number, ...children]: Tree): void => {
    if (number !== null) numbers.push(number);
    children.forEach(collect);
  };
  trees.forEach(collect);
  const messageCount = numbers.length;
  const firstChild: number[] = new Array<number>(messageCount).fill(NONE);
  const nextSibling: number[] = new Array<number>(messageCount).fill(NONE);
  const add = (siblings: readonly Tree[]): number => {
    let first = NONE;
    for (const [number, ...children] of siblings.toReversed()) {
      const node = number === null ? firstChild.length : numbers.indexOf(number);
      firstChild[node] = NONE;
      const child = add(children);
      firstChild[node] = child;
      nextSibling[node] = first;
      first = node;
    }
    return first;
  };
  const firstRoot = add(trees);
  const forest = {
    messageCount,
    firstRoot,
    firstChild: Int32Array.from(firstChild),
    nextSibling: Int32Array.from(nextSibling),
  };
  return { forest, numbers };
}

test('threads are written as RFC 5256 shows them', (t) => {
  const trees: readonly (readonly [readonly Tree[], string])[] = [
    [[], ''],
    [[[2], [3, [6, [4, [23]], [44, [7, [96]]]]]], '(2)(3 6 (4 23)(44 7 96))'],
    [[[null, [3], [5]]], '((3)(5))'],
    [[[166], [null, [170], [179]], [174, [175], [176]], [194, [195]]], '(166)((170)(179))(174 (175)(176))(194 195)'],
  ];
  for (const [tree, text] of trees) {
    const { forest, numbers } = forestOf(tree);
    t.is(written(forest, numbers), text);
  }
});

test('a thread that branches 50,000 times below each other is written', (t) => {
  const depth = 50_000;
  // Node 2i has the children 2i + 1 and 2i + 2.
  const messageCount = 2 * depth + 1;
  const firstChild = new Int32Array(messageCount).fill(NONE);
  const nextSibling = new Int32Array(messageCount).fill(NONE);
  for (let i = 0; i < depth; i++) {
    firstChild[2 * i] = 2 * i + 1;
    nextSibling[2 * i + 1] = 2 * i + 2;
  }
  const numbers = Array.from({ length: messageCount }, (_, i) => i + 1);
  const text = written({ messageCount, firstChild, nextSibling, firstRoot: 0 }, numbers);
  t.true(text.startsWith('(1 (2)(3 (4)(5 (6)'));
  t.is(text.split('(').length, text.split(')').length);
  t.is(text.split(/[^\d]+/).filter((word) => word !== '').length, messageCount);
});
