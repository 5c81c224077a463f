// Tests clients that follow a folder by its changes, page by page, under random histories with other owners and a log that is
// pruned: whenever a client has asked for everything, it knows what the rows contain.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { MailboxProtocol } from '../../../../src/actors/mailbox/protocol.js';
import type { Reply } from '../../../../src/actors/runtime/protocol.js';
import { DELETED_BIT, unpackFlags, unpackModseqs, unpackUids } from '../../../../src/mail-format/packed-columns.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { message } from '../command-world.js';
import { type MailboxWorld, mailboxWorld } from '../mailbox-world.js';

type Page = Reply<MailboxProtocol, 'folderChanges'>;

const FOLDERS = ['inbox', 'archive', 'trash'];
const FLAGS = ['\\Seen', '\\Flagged', '\\Deleted', 'Work', 'home'];
const CLIENTS = 4;

const folder = fc.constantFrom(...FOLDERS);
const flags = fc.subarray(FLAGS, { maxLength: 3 });
const uids = fc
  .tuple(fc.integer({ min: 1, max: 15 }), fc.nat(6))
  .map(([first, more]): [number, number][] => [[first, first + more]]);
const change = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      folder,
      flags: fc.array(flags, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('replace' as const), folder, uid: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('storeFlags' as const),
      folder,
      uids,
      mode: fc.constantFrom('add' as const, 'remove' as const, 'replace' as const),
      flags,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('copy' as const, 'move' as const), folder, uids, to: folder }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('expunge' as const), folder, uids: fc.option(uids) }) },
);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('changes' as const),
      changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('sync' as const),
      client: fc.nat(CLIENTS - 1),
      limit: fc.integer({ min: 1, max: 6 }),
      /** This change happens between the pages. */
      meanwhile: fc.option(change),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reload' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), kept: fc.nat(4) }) },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** Holds what a client knows of a folder. */
class Follower {
  /** Flags and keywords by UID. */
  messages = new Map<number, string>();
  modseq: number | null = null;
  uidNext = 1;
  /** Kinds of answers that the client has got. */
  readonly seen = new Set<string>();

  async sync(ask: (since: number | null, fromUid: number) => Promise<Page>): Promise<void> {
    const pages = [await ask(this.modseq, 1)];
    for (let next = pages[0]!.nextUid; next !== null; next = pages.at(-1)!.nextUid) {
      const page = await ask(this.modseq, next);
      if (page.isWhole !== pages[0]!.isWhole) return this.sync(ask);
      pages.push(page);
    }
    if (pages[0]!.isWhole) this.messages.clear();
    for (const page of pages) this.#take(page);
    // Later pages may show a later state.
    this.modseq = pages[0]!.modseq;
    this.uidNext = pages[0]!.uidNext;
  }

  #take({ uids: packed, flags: bits, modseqs, keywords, expunged, isWhole }: Page): void {
    const known = unpackUids(packed);
    const names = new Map(keywords.flatMap((set) => [...unpackUids(set.uids)].map((uid) => [uid, set.names] as const)));
    const gone = unpackUids(expunged);
    for (const uid of gone) this.messages.delete(uid);
    unpackFlags(bits).forEach((of, i) => {
      this.messages.set(known[i]!, shown(of, names.get(known[i]!) ?? []));
    });
    if (!isWhole && [...unpackModseqs(modseqs)].some((modseq) => modseq <= this.modseq!)) throw new Error('it is old');
    this.seen.add(isWhole ? 'whole' : gone.length > 0 ? 'expunged' : known.length > 0 ? 'changed' : 'nothing');
  }
}

const shown = (bits: number, keywords: readonly string[]) => `${bits} ${[...keywords].sort().join(' ')}`;

function issue(world: MailboxWorld, accountId: string, next: Change): Promise<unknown> {
  const mailbox = world.mailboxes.of(accountId);
  switch (next.kind) {
    case 'append':
      return mailbox.ask('append', { folderId: next.folder, messages: next.flags.map((of) => message(of)) });
    case 'replace': {
      const replaces = { folderId: next.folder, uid: next.uid };
      return mailbox.ask('append', { folderId: next.folder, messages: [message()], replaces });
    }
    case 'storeFlags': {
      const selection = { folderId: next.folder, uids: next.uids };
      return mailbox.ask('storeFlags', { selection, mode: next.mode, flags: next.flags });
    }
    case 'copy':
    case 'move':
      return mailbox.ask(next.kind, { selection: { folderId: next.folder, uids: next.uids }, toFolderId: next.to });
    case 'expunge':
      return mailbox.ask('expunge', { folderId: next.folder, ...(next.uids && { uids: next.uids }) });
  }
}

async function rowsOf(world: MailboxWorld, accountId: string, role: string) {
  const rows = await world.sql<{ uid: number; flags: number; keywords: string[]; deleted: boolean }[]>`
    select p.uid::int as uid, e.flags::int as flags, e.keywords, p.deleted
    from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
    join emails e on e.account_id = p.account_id and e.id = p.email_id
    where p.account_id = ${accountId} and f.role = ${role} order by uid`;
  return rows.map((row) => [row.uid, shown(row.flags | (row.deleted ? DELETED_BIT : 0), row.keywords)]);
}

test('whoever follows the changes of a folder from any modseq knows what is in it', async (t) => {
  const world = await mailboxWorld();
  t.teardown(() => world.end());
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { id: accountId } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'x');
      const mailbox = world.mailboxes.of(accountId);
      // Each client follows every folder.
      const clients = Array.from({ length: CLIENTS }, () =>
        FOLDERS.map((name) => ({ name, follower: new Follower() })),
      );
      const sync = async (client: number, limit: number, meanwhile: Change | null) => {
        for (const { name, follower } of clients[client]!) {
          let pages = 0;
          await follower.sync(async (since, fromUid) => {
            if (pages++ === 1 && meanwhile !== null) await issue(world, accountId, meanwhile);
            return (await mailbox.ask('folderChanges', { folderId: name, since, fromUid, limit })).reply!;
          });
        }
      };
      for (const next of steps) {
        if (next.kind === 'changes') await Promise.all(next.changes.map((one) => issue(world, accountId, one)));
        else if (next.kind === 'sync') await sync(next.client, next.limit, next.meanwhile);
        else {
          if (next.kind === 'prune') {
            const [row] = await world.sql`select modseq::int as modseq from accounts where id = ${accountId}`;
            const upTo = row!['modseq'] - next.kept;
            await world.sql`delete from events where account_id = ${accountId} and seq <= ${upTo}`;
            await world.sql`delete from expunged where account_id = ${accountId} and modseq <= ${upTo}`;
          }
          world.reload();
        }
      }
      for (let client = 0; client < CLIENTS; client++) {
        await sync(client, 3, null);
        for (const { name, follower } of clients[client]!) {
          const known = [...follower.messages].sort(([a], [b]) => a - b);
          t.deepEqual(known, await rowsOf(world, accountId, name));
          const { folders } = (await mailbox.ask('folderStatus', { folderIds: [name] })).reply!;
          t.is(folders[0]!.uidNext, follower.uidNext);
          t.is(folders[0]!.total, known.length);
          t.is(folders[0]!.deleted, known.filter(([, of]) => (Number.parseInt(of, 10) & DELETED_BIT) !== 0).length);
          for (const kind of follower.seen) seen.add(kind);
        }
      }
    }),
    { numRuns: runs(25) },
  );
  t.deepEqual([...seen].sort(), ['changed', 'expunged', 'nothing', 'whole']);
});
