// Compares threads by RFC 5256 with a step-by-step version of its algorithm; tests malicious messages.

import fc from 'fast-check';
import {
  NONE,
  type ThreadedMessage,
  type ThreadForest,
  threadsBySubject,
} from '../../../src/mail-format/threads/thread-forest.js';
import { idAt, packedIds, threadIdsOf } from '../../../src/mail-format/threads/thread-ids.js';
import { threadsByReferences } from '../../../src/mail-format/threads/thread-references.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

/** The ids are texts, as in the header. */
interface Message extends Omit<ThreadedMessage, 'ids'> {
  readonly messageId: string;
  readonly references: readonly string[];
}

const packed = (messages: readonly Message[]): ThreadedMessage[] =>
  messages.map(({ messageId, references, ...more }) => ({
    ...more,
    ids: packedIds(messageId === '' ? undefined : messageId, references),
  }));

function run(messages: readonly Message[], threads = threadsByReferences): ThreadForest {
  const work = threads(packed(messages));
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** A nested tree: a message is its number, a parent without a message is null. */
type Tree = readonly [node: number | null, children: readonly Tree[]];

function treesOf({ messageCount, firstChild, nextSibling, firstRoot }: ThreadForest): Tree[] {
  const list = (first: number): Tree[] => {
    const trees: Tree[] = [];
    for (let node = first; node !== NONE; node = nextSibling[node]!)
      trees.push([node < messageCount ? node : null, list(firstChild[node]!)]);
    return trees;
  };
  return list(firstRoot);
}

class Node {
  parent: Node | undefined;
  children: Node[] = [];
  readonly message: number | null;
  constructor(message: number | null) {
    this.message = message;
  }
}

/** Follows the steps and the words of the RFC. */
function naive(messages: readonly Message[]): Tree[] {
  const byId = new Map<string, Node>();
  const nodes = messages.map(({ messageId }, i) => {
    const node = new Node(i);
    if (messageId !== '' && !byId.has(messageId)) byId.set(messageId, node);
    return node;
  });
  const isWithin = (node: Node, ancestor: Node): boolean =>
    node === ancestor || (node.parent !== undefined && isWithin(node.parent, ancestor));
  const link = (parent: Node, child: Node): void => {
    if (isWithin(parent, child)) return;
    child.parent = parent;
    parent.children.push(child);
  };
  const unlink = (child: Node): void => {
    if (child.parent !== undefined) child.parent.children = child.parent.children.filter((other) => other !== child);
    child.parent = undefined;
  };
  for (const [i, { references }] of messages.entries()) {
    const chain = references.map((id) => {
      const found = byId.get(id) ?? new Node(null);
      byId.set(id, found);
      return found;
    });
    for (let at = 1; at < chain.length; at++) if (chain[at]!.parent === undefined) link(chain[at - 1]!, chain[at]!);
    unlink(nodes[i]!);
    const last = chain.at(-1);
    if (last !== undefined) link(last, nodes[i]!);
  }
  const root = new Node(null);
  root.children = [...new Set([...nodes, ...byId.values()])].filter(({ parent }) => parent === undefined);
  const prune = (node: Node, isRoot: boolean): void => {
    for (const child of node.children) prune(child, false);
    node.children = node.children.flatMap((child) => {
      if (child.message !== null) return [child];
      return isRoot && child.children.length > 1 ? [child] : child.children;
    });
  };
  prune(root, true);
  const key = (node: Node): [number, number] => {
    const message = node.message ?? node.children[0]!.message!;
    return [messages[message]!.sentAt, message];
  };
  const sort = (list: Node[]): void => {
    list.sort((a, b) => key(a)[0] - key(b)[0] || key(a)[1] - key(b)[1]);
  };
  for (const top of root.children) if (top.message === null) sort(top.children);
  sort(root.children);
  const subjectOf = (node: Node): Message => messages[node.message ?? node.children[0]!.message!]!;
  const isReply = (node: Node): boolean => node.message !== null && messages[node.message]!.isReplyOrForward;
  const table = new Map<string, Node>();
  for (const node of root.children) {
    const { subject } = subjectOf(node);
    if (subject === '') continue;
    const entered = table.get(subject);
    if (
      entered === undefined ||
      (entered.message !== null && (node.message === null || (isReply(entered) && !isReply(node))))
    )
      table.set(subject, node);
  }
  for (const node of [...root.children]) {
    const { subject } = subjectOf(node);
    const entered = table.get(subject);
    if (subject === '' || entered === undefined || entered === node) continue;
    root.children = root.children.filter((other) => other !== node);
    if (node.message === null && entered.message === null) entered.children.push(...node.children);
    else if (entered.message === null || (isReply(node) && !isReply(entered))) entered.children.push(node);
    else {
      const dummy = new Node(null);
      dummy.children = [entered, node];
      root.children[root.children.indexOf(entered)] = dummy;
      table.set(subject, dummy);
    }
  }
  const finish = (list: Node[]): Tree[] => {
    for (const node of list) finish(node.children);
    sort(list);
    return list.map((node): Tree => [node.message, finish(node.children)]);
  };
  return finish(root.children);
}

const message = (id: string, references: readonly string[], subject = '', more: Partial<Message> = {}): Message => ({
  messageId: id,
  references,
  sentAt: 0,
  subject,
  isReplyOrForward: false,
  ...more,
});

test('any messages are threaded as the steps of the RFC say', (t) => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
  const any = fc.record({
    messageId: fc.oneof(id, fc.constant('')),
    references: fc.array(id, { maxLength: 4 }),
    sentAt: fc.nat(5),
    subject: fc.constantFrom('', 'x', 'y', 'z'),
    isReplyOrForward: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 12 }), (messages) => {
      t.deepEqual(treesOf(run(messages)), naive(messages));
    }),
    { numRuns: runs(5000) },
  );
});

test('a reply whose parent is not there is beside its siblings, under a parent that is not there', (t) => {
  t.deepEqual(treesOf(run([message('b', ['a']), message('c', ['a'])])), [
    [
      null,
      [
        [0, []],
        [1, []],
      ],
    ],
  ]);
  t.deepEqual(treesOf(run([message('b', ['a'])])), [[0, []]]);
});

test('messages that refer to each other in a circle are a chain', (t) => {
  const circle = [message('a', []), message('b', ['c', 'a']), message('c', ['b'])];
  t.deepEqual(treesOf(run(circle)), [[2, [[0, [[1, []]]]]]]);
});

test('a chain of 20,000 replies is a chain, in whatever order the messages are', (t) => {
  const count = 20_000;
  const chain = Array.from({ length: count }, (_, i) =>
    message(`${i}`, i === 0 ? [] : [`${i - 1}`], '', { sentAt: i }),
  );
  for (const messages of [
    chain,
    chain.toReversed(),
    [...chain.filter((_, i) => i % 2), ...chain.filter((_, i) => !(i % 2))],
  ]) {
    const { firstChild, firstRoot, nextSibling } = run(messages);
    let length = 0;
    for (let node = firstRoot; node !== NONE; node = firstChild[node]!) {
      length++;
      t.is(nextSibling[node], NONE);
    }
    t.is(length, count);
  }
});

test('messages that refer to thousands of others, and to themselves, end in a forest', (t) => {
  const ids = Array.from({ length: 5000 }, (_, i) => `${i}`);
  const messages = [message('x', ids), message('y', ids.toReversed()), message('z', ['z', 'z']), message('x', ['y'])];
  const seen = new Set<number | null>();
  const visit = (trees: readonly Tree[]): void => {
    for (const [node, children] of trees) {
      if (node !== null) seen.add(node);
      visit(children);
    }
  };
  visit(treesOf(run(messages)));
  t.is(seen.size, 4);
});

test('threads by subject have one level of replies and are in the order of their first messages', (t) => {
  const dated = (subject: string, sentAt: number) => message('', [], subject, { sentAt });
  t.deepEqual(
    treesOf(run([dated('b', 3), dated('a', 2), dated('b', 1), dated('b', 2), dated('', 9)], threadsBySubject)),
    [
      [
        2,
        [
          [3, []],
          [0, []],
        ],
      ],
      [1, []],
      [4, []],
    ],
  );
});

test('ids are those of valid fields, quotes that are not needed are no part of them', (t) => {
  t.is(threadIdsOf('<"a"@x>', '', ''), packedIds('<a@x>', []));
  t.is(threadIdsOf('nothing', '<a@x> (comment) <b@x>', '<c@x>'), packedIds(undefined, ['<a@x>', '<b@x>']));
  t.is(threadIdsOf('', 'none', 'On Monday <c@x> and <d@x>'), packedIds(undefined, ['<c@x>']));
  t.is(threadIdsOf('<A@x>', '', ''), packedIds('<A@x>', []));
  t.not(packedIds('<A@x>', []), packedIds('<a@x>', []));
});

test('a hundred thousand ids are as many hashes', (t) => {
  const ids = Array.from({ length: 100_000 }, (_, i) => packedIds(`<${i}.${i * 7919}@mail.example.org>`, []));
  t.is(new Set(ids).size, ids.length);
  t.is(idAt(packedIds(undefined, []), 0), '');
});
