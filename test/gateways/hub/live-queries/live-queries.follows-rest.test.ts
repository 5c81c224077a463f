// Tests the contract of live queries: a client that applies the changes has the lists of REST, whatever happens to the mailbox,
// to its owner and to the connection.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { runs } from '../../../support/amounts.js';
import type { FollowedList } from '../../../support/clients/followed-list.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import type { ListClient } from './list-client.js';
import { type ListsWorld, listsWorld, PAUSE_OCTETS } from './lists-world.js';

const FOLDERS = ['inbox', 'sent', 'archive', 'trash', 'junk'] as const;
const FLAGS = ['\\Seen', '\\Flagged', '\\Answered', '$Custom'] as const;
const SEARCH_WORDS = ['alpha', 'beta'] as const;

const which = fc.array(fc.nat(40), { minLength: 1, maxLength: 5 });
const folder = fc.oneof(fc.constantFrom(...FOLDERS), fc.nat(3));
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      folder,
      word: fc.constantFrom(...SEARCH_WORDS),
      minutes: fc.nat(60),
      isRead: fc.boolean(),
      references: fc.array(fc.nat(20), { maxLength: 2 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('flags' as const),
      which,
      mode: fc.constantFrom('add' as const, 'remove' as const),
      flags: fc.subarray([...FLAGS], { minLength: 1 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('copy' as const, 'move' as const), which, folder }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('mark' as const),
      folder,
      uids: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }),
      mode: fc.constantFrom('add' as const, 'add' as const, 'remove' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expunge' as const), folder }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('createLabel' as const), name: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('updateLabel' as const), label: fc.nat(3), name: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteLabel' as const), label: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('subscribe' as const), client: fc.nat(1), query: fc.nat(30) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('unsubscribe' as const), client: fc.nat(1), list: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reconnect' as const), client: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('slow' as const, 'fast' as const), client: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Queries of every kind of list with small pages, filters, orders and counts. */
function queriesOf(world: ListsWorld, labels: readonly string[]): readonly object[] {
  const [first = 'inbox', second = first] = labels;
  const threadIds = [...world.mailboxes.account(world.accountId).emails.values()].map(({ threadId }) => threadId);
  return [
    {},
    { pageSize: 3 },
    { page: 2, pageSize: 3 },
    { folder: 'sent' },
    { folder: 'archive', pageSize: 2, isRead: false },
    { isFlagged: true, pageSize: '2' },
    { sort: 'date', pageSize: 4 },
    { groupByThread: true, pageSize: 3 },
    { groupByThread: true, sort: 'date', page: 2, pageSize: 2 },
    { groupByThread: true, folder: 'archive', isRead: false },
    { groupByThread: true, folder: first, isFlagged: true },
    { sort: 'subject', pageSize: 3 },
    { sort: '-size' },
    { folder: first },
    { folder: second, pageSize: 2 },
    { q: '' },
    { q: 'alpha', pageSize: 4 },
    { q: 'beta', folder: 'trash' },
    { subject: 'alpha', from: 'ann', pageSize: 4 },
    { subject: 'beta', anywhere: true },
    { label: first, minSizeBytes: 150 },
    { hasAttachments: false, isRead: true },
    { keyword: '$Custom' },
    { q: '...' },
    ...threadIds.slice(0, 3).map((threadId) => ({ threadId, pageSize: 3 })),
  ];
}

interface Following {
  readonly query: unknown;
  readonly list: FollowedList;
}

class History {
  readonly #world: ListsWorld;
  readonly #labels: string[] = [];
  readonly #clients: { client: ListClient; followed: Following[] }[];

  constructor(world: ListsWorld) {
    this.#world = world;
    this.#clients = [0, 1].map(() => ({ client: world.connect(), followed: [] }));
  }

  async take(next: Step): Promise<void> {
    const { mailbox, mailboxes } = this.#world;
    switch (next.kind) {
      case 'append': {
        const { word, minutes, isRead, references } = next;
        const receivedAt = Date.UTC(2026, 0, 1) + minutes * 60_000;
        await this.#world.append({
          folder: this.#folder(next.folder),
          subject: `${word} ${minutes}`,
          receivedAt,
          flags: isRead ? ['\\Seen'] : [],
          references: references.map((n) => `<${n}@remote.test>`),
        });
        return;
      }
      case 'flags':
        await mailbox.ask('storeFlags', { selection: this.#selection(next.which), mode: next.mode, flags: next.flags });
        return;
      case 'copy':
      case 'move':
        await mailbox.ask(next.kind, { selection: this.#selection(next.which), toFolderId: this.#folder(next.folder) });
        return;
      case 'mark': {
        const uids = next.uids.map((uid): [number, number] => [uid, uid]);
        const selection = { folderId: this.#folder(next.folder), uids };
        await mailbox.ask('storeFlags', { selection, mode: next.mode, flags: ['\\Deleted'] });
        return;
      }
      case 'expunge':
        await mailbox.ask('expunge', { folderId: this.#folder(next.folder) });
        return;
      case 'remove':
        await mailbox.ask('remove', { emailIds: this.#selection(next.which).emailIds });
        return;
      case 'createLabel': {
        const { reply } = await mailbox.ask('createLabel', {
          name: `label ${next.name}`,
          color: '#aabbcc',
          sortOrder: 1,
        });
        if (reply !== undefined) this.#labels.push(reply.id);
        return;
      }
      case 'updateLabel': {
        const shape = { name: `label ${next.name}`, color: '#ddeeff', sortOrder: next.name };
        await mailbox.ask('updateLabel', { labelId: this.#labels[next.label] ?? 'none', ...shape });
        return;
      }
      case 'deleteLabel':
        await mailbox.ask('deleteLabel', { labelId: this.#labels[next.label] ?? 'none' });
        return;
      case 'reload':
        mailboxes.reload();
        return;
      case 'subscribe': {
        const queries = queriesOf(this.#world, this.#labels);
        await this.#subscribe(next.client, queries[next.query % queries.length]);
        return;
      }
      case 'unsubscribe': {
        const { client, followed } = this.#clients[next.client]!;
        const [over] = followed.splice(next.list, 1);
        if (over !== undefined && over.list.ended === undefined) await client.unsubscribe(over.list);
        return;
      }
      case 'reconnect': {
        const before = this.#clients[next.client]!;
        before.client.close();
        this.#clients[next.client] = { client: this.#world.connect(), followed: [] };
        for (const { query } of before.followed) await this.#subscribe(next.client, query);
        return;
      }
      case 'slow':
        this.#clients[next.client]!.client.buffered = PAUSE_OCTETS + 1;
        return;
      case 'fast':
        this.#clients[next.client]!.client.drain();
        return;
      case 'settle':
        await this.settle();
    }
  }

  /** Waits until every list equals that of REST. */
  async settle(): Promise<void> {
    for (const { client, followed } of this.#clients) {
      client.drain();
      for (const { query, list } of followed) {
        await until(async () => {
          const expected = await this.#world.rest(query);
          if ('refusal' in expected) return list.ended !== undefined && list.items.length === 0 && list.total === 0;
          // A list that has ended stays ended, although REST may list its thread again.
          if (list.ended !== undefined) return true;
          return isDeepStrictEqual({ items: list.items, total: list.total, unread: list.unread }, expected);
        });
      }
    }
  }

  close(): void {
    for (const { client } of this.#clients) client.close();
  }

  async #subscribe(number: number, query: unknown): Promise<void> {
    const { client, followed } = this.#clients[number]!;
    // The answer waits until the client reads.
    client.drain();
    try {
      followed.push({ query, list: await client.subscribe(query) });
    } catch (error) {
      if (!/no folder|no thread|at most/.test(String(error))) throw error;
    }
  }

  #selection(numbers: readonly number[]): { emailIds: string[] } {
    const { ids } = this.#world;
    return { emailIds: numbers.flatMap((n) => ids[n % Math.max(ids.length, 1)] ?? []) };
  }

  #folder(of: string | number): string {
    return typeof of === 'string' ? of : (this.#labels[of] ?? 'inbox');
  }
}

test('clients that apply the changes have what REST lists, over random histories', async (t) => {
  t.timeout(600_000);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const world = await listsWorld();
      const history = new History(world);
      try {
        for (const next of steps) await history.take(next);
        await history.settle();
      } finally {
        history.close();
        await world.end();
      }
      t.is(world.queries.lists, 0);
    }),
    { numRuns: runs(40) },
  );
});
