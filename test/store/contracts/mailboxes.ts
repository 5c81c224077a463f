// Defines the contract of the mailbox store: claims, fences, what a commit consumes and remembers, and filters. What folders hold is in
// folders.ts, what lists show in email-lists.ts, outbound mail in outbound.ts.
import { randomUUID } from 'node:crypto';
import { SEEN } from '../../../src/mail-format/flags.js';
import { blobOf } from '../../../src/store/blobs.js';
import type { ChangeContent } from '../../../src/store/changes/changes.js';
import { newId } from '../../../src/store/ids/new-id.js';
import type { FilterRow } from '../../../src/store/mailbox-rows.js';
import { NO_RULE } from '../../support/filter-row.js';
import { emailsOf, expungedOf, placementsOf } from './contents.js';
import { ALL_SHARDS, type Contract } from './stores.js';
import { emailAdded, newEmail, openWriter, T0 } from './writer.js';

const filterOf = (parts: Partial<FilterRow> = {}): FilterRow => ({
  id: newId(),
  ...NO_RULE,
  subjectContains: 'x',
  markAsRead: true,
  disabledReason: null,
  createdAt: T0,
  updatedAt: T0,
  lastAppliedAt: null,
  timesApplied: 0,
  ...parts,
});

export const MAILBOXES: Contract = {
  async 'an account is claimed by an epoch that is not older than the one before'(t, stores) {
    const { mailboxes } = stores;
    const accountId = await stores.account();
    t.like(await mailboxes.claim(accountId, 3), { kind: 'claimed', modseq: 1, isUnclaimed: false });
    t.is((await mailboxes.claim(accountId, 3)).kind, 'claimed');
    t.is((await mailboxes.claim(accountId, 2)).kind, 'fenced');
    t.is((await mailboxes.claim(randomUUID(), 1)).kind, 'noSuchAccount');
    t.deepEqual(
      (await mailboxes.overview(accountId)).folders.map(({ role, name }) => [role, name]),
      [
        ['inbox', 'INBOX'],
        ['sent', 'Sent'],
        ['drafts', 'Drafts'],
        ['archive', 'Archive'],
        ['trash', 'Trash'],
        ['junk', 'Junk'],
      ],
    );
    t.deepEqual((await mailboxes.overview(randomUUID())).folders, []);
  },

  async 'a commit of another epoch or modseq writes nothing'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    await writer.add();
    const before = await emailsOf(stores, accountId);
    const content = [emailAdded(newEmail(), [])];
    t.is((await writer.commit(content, { epoch: 0 })).kind, 'fenced');
    t.is((await writer.commit(content, { epoch: 2 })).kind, 'fenced');
    t.is((await writer.commit(content, { modseqBefore: 1, modseqAfter: 2 })).kind, 'fenced');
    t.is((await writer.commit(content, { accountId: randomUUID() })).kind, 'fenced');
    await stores.mailboxes.claim(accountId, 2);
    t.is((await writer.commit(content)).kind, 'fenced');
    t.deepEqual(await emailsOf(stores, accountId), before);
    t.is((await stores.events.read(accountId, 0, 10)).length, 1);
    t.true(await stores.mailboxes.isNewest(accountId, 2, 2));
    t.false(await stores.mailboxes.isNewest(accountId, 1, 2));
    t.false(await stores.mailboxes.isNewest(accountId, 2, 1));
    t.is((await writer.commit(content, { epoch: 2 })).kind, 'committed');
  },

  async 'inbound rows are consumed with the commit, and once'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const [first, second] = [randomUUID(), randomUUID()];
    const { references: _, ...rest } = newEmail();
    const envelope = { receivedAt: T0, summary: { ...rest, references: [] } };
    const deliveries = [first, second].map((id) => ({ accountId, id }));
    await stores.inbound.spool(blobOf(Buffer.from('Subject: a\r\n\r\nb')), envelope, deliveries);
    const waiting = async () => (await stores.inbound.overdue(ALL_SHARDS, -1000, 10, [])).map(({ id }) => id).sort();
    t.is((await writer.commit([emailAdded(newEmail(), [])], { epoch: 0, inbound: [first] })).kind, 'fenced');
    t.is((await waiting()).length, 2);
    t.is((await writer.commit([emailAdded(newEmail(), [])], { inbound: [first] })).kind, 'committed');
    t.deepEqual(await waiting(), [second]);
    t.deepEqual(await writer.commit([emailAdded(newEmail(), [])], { inbound: [second, first] }), {
      kind: 'repeated',
      inbound: [first],
      replies: [],
    });
    t.deepEqual(await waiting(), [second]);
    t.is((await emailsOf(stores, accountId)).length, 1);
    const other = await openWriter(stores);
    t.is((await other.commit([], { inbound: [second] })).kind, 'repeated', 'it is of another account');
  },

  async 'contents are stored with the commit, and not by one that writes nothing'(t, stores) {
    const [ann, bob] = [await openWriter(stores), await openWriter(stores)];
    const bytes = (subject: string) => Buffer.from(`Subject: ${subject}\r\n\r\n${'x'.repeat(20_000)}`);
    const [own, shared, stranger] = ['own', 'shared', 'stranger'].map((subject) => blobOf(bytes(subject)));
    const committing = [
      ann.commit([emailAdded(newEmail({ blob: own!.hash }), [])], { contents: [own!, shared!] }),
      bob.commit([emailAdded(newEmail({ blob: shared!.hash }), [])], { contents: [shared!] }),
    ];
    const results = await Promise.all(committing);
    t.deepEqual(
      results.map(({ kind }) => kind),
      ['committed', 'committed'],
    );
    const fenced = await ann.commit([], { epoch: 0, contents: [stranger!] });
    t.is(fenced.kind, 'fenced');
    const again = await bob.commit([emailAdded(newEmail({ blob: own!.hash }), [])], { contents: [own!] });
    t.is(again.kind, 'committed');
    for (const { hash, size, index } of [own!, shared!]) {
      const subject = hash === own!.hash ? 'own' : 'shared';
      t.deepEqual(Buffer.from(await stores.blobs.read(hash, 0, size)), bytes(subject));
      t.deepEqual(await stores.blobs.index(hash), index);
    }
    t.is(await stores.blobs.index(stranger!.hash), undefined);
  },

  async 'an email that is added and removed in one list leaves its log and nothing else'(t, stores) {
    const writer = await openWriter(stores);
    const email = newEmail();
    const placements = [{ folderId: writer.folder('inbox'), uid: 1 }];
    await writer.commit([
      emailAdded(email, placements),
      { type: 'EmailPlaced', payload: { emailId: email.id, folderId: writer.folder('sent'), uid: 1 } },
      { type: 'FlagsChanged', payload: { emailId: email.id, flags: SEEN, changed: SEEN } },
      {
        type: 'EmailRemoved',
        payload: { emailId: email.id, placements: [...placements, { folderId: writer.folder('sent'), uid: 1 }] },
      },
    ]);
    t.deepEqual(await emailsOf(stores, writer.accountId), []);
    t.deepEqual(await placementsOf(stores, writer.accountId), {});
    t.deepEqual((await expungedOf(stores, writer.accountId)).folders, {});
    t.deepEqual(
      (await stores.events.read(writer.accountId, 0, 10)).map(({ seq, n, type }) => [seq, n, type]),
      ['EmailAdded', 'EmailPlaced', 'FlagsChanged', 'EmailRemoved'].map((type, n) => [2, n, type]),
    );
  },

  async 'a command that is remembered is not carried out again, and its reply is found'(t, stores) {
    const writer = await openWriter(stores);
    const [done, later] = [1, 2].map((n) => ({ id: randomUUID(), reply: { n } }));
    t.is((await writer.commit([emailAdded(newEmail(), [])], { remembered: [done!] })).kind, 'committed');
    const again = { id: done!.id, reply: { n: 3 } };
    t.deepEqual(await writer.commit([emailAdded(newEmail(), [])], { remembered: [later!, again] }), {
      kind: 'repeated',
      inbound: [],
      replies: [done],
    });
    t.is((await emailsOf(stores, writer.accountId)).length, 1);
    const other = await openWriter(stores);
    t.is((await other.commit([], { remembered: [again] })).kind, 'committed', 'it was of another account');
    t.is((await writer.commit([emailAdded(newEmail(), [])], { remembered: [later!] })).kind, 'committed');
  },

  async 'a delivery that is remembered ends its inbound row and places nothing, however old it is'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const [placed, waiting] = [randomUUID(), randomUUID()];
    const reply = (id: string) => ({ id, reply: { emailId: null } });
    await writer.commit([emailAdded(newEmail(), [])], { remembered: [reply(placed)] });
    const { references: _, ...rest } = newEmail();
    const envelope = { receivedAt: T0, summary: { ...rest, references: [] } };
    const deliveries = [placed, waiting].map((id) => ({ accountId, id, isTried: true }));
    await stores.inbound.spool(blobOf(Buffer.from('Subject: a\r\n\r\nb')), envelope, deliveries);
    const rows = () => stores.inbound.overdue(ALL_SHARDS, -1000, 10, []);
    t.true((await rows()).every(({ isTried }) => isTried === true));
    t.is(await stores.mailboxes.forget(-60_000, 10), 0, 'its row is there');
    const both = { inbound: [placed, waiting], remembered: [reply(waiting), reply(placed)] };
    t.deepEqual(await writer.commit([emailAdded(newEmail(), [])], both), {
      kind: 'repeated',
      inbound: [placed],
      replies: [reply(placed)],
    });
    t.deepEqual(
      (await rows()).map(({ id }) => id),
      [waiting],
    );
    const alone = { inbound: [waiting], remembered: [reply(waiting)] };
    t.is((await writer.commit([emailAdded(newEmail(), [])], alone)).kind, 'committed');
    t.deepEqual(await rows(), []);
    t.is((await emailsOf(stores, accountId)).length, 2);
    t.is(await stores.mailboxes.forget(-60_000, 10), 2);
  },

  async 'replies are remembered until they are old'(t, stores) {
    const writer = await openWriter(stores);
    const reply = (n: number) => ({ id: randomUUID(), reply: { n, list: [null, 'x'] } });
    const [first, second, lost] = [reply(1), reply(2), reply(3)];
    await writer.commit([], { remembered: [first] });
    await writer.commit([], { remembered: [second] });
    await writer.commit([], { remembered: [lost], epoch: 0 });
    const remembered = async () => (await stores.mailboxes.overview(writer.accountId)).remembered;
    t.deepEqual(await remembered(), [first, second]);
    t.is(await stores.mailboxes.forget(60_000, 10), 0);
    t.is(await stores.mailboxes.forget(-60_000, 1), 1, 'the most of a pass');
    t.is((await remembered()).length, 1);
    t.is(await stores.mailboxes.forget(-60_000, 10), 1);
    t.deepEqual(await remembered(), []);
  },

  async 'filters, and those that wait for a body'(t, stores) {
    const writer = await openWriter(stores);
    const [kept, dropped] = [filterOf(), filterOf()];
    const put = (filter: FilterRow): ChangeContent => ({ type: 'FilterChanged', payload: { filter } });
    await writer.commit([put(kept), put(dropped)]);
    const changed = filterOf({
      id: kept.id,
      name: 'new',
      updatedAt: T0 + 1,
      lastAppliedAt: T0 + 2,
      timesApplied: 3,
      ...{ toContains: 'to', ccContains: 'cc', headerName: 'X-A', headerContains: 'a', listId: 'list.test' },
      ...{ minSizeBytes: 5_000_000_000, maxSizeBytes: 5_000_000_001, matches: '\\d+', moveToFolderId: newId() },
      ...{ flag: '$Work', stop: true, disabledReason: 'folderDeleted' },
    });
    await writer.commit([put(changed), { type: 'FilterDeleted', payload: { filterId: dropped.id } }]);
    const [a, b] = [newId(), newId()];
    const waits = (emailId: string): ChangeContent => ({
      type: 'FiltersAwaitBody',
      payload: { emailId, filterIds: [kept.id], placed: [{ folderId: a, uid: 7 }] },
    });
    await writer.commit([waits(a), waits(b)]);
    await writer.commit([{ type: 'BodyFiltersEnded', payload: { emailId: a } }]);
    const { filters, filtersAwaitingBody } = await stores.mailboxes.overview(writer.accountId);
    t.deepEqual(filters, [changed]);
    t.deepEqual(filtersAwaitingBody, [{ emailId: b, filterIds: [kept.id], placed: [{ folderId: a, uid: 7 }] }]);
  },

  async 'Sieve scripts, at most one of which is active'(t, stores) {
    const writer = await openWriter(stores);
    const put = (name: string, content: string): ChangeContent => ({
      type: 'SieveScriptStored',
      payload: { name, content },
    });
    const activate = (name: string | null): ChangeContent => ({ type: 'SieveScriptActivated', payload: { name } });
    const remove = (name: string): ChangeContent => ({ type: 'SieveScriptDeleted', payload: { name } });
    const stored = async () => {
      const { sieveScripts, activeSieveScript } = await stores.mailboxes.overview(writer.accountId);
      return [sieveScripts.map(({ name, content }) => `${name}: ${content}`), activeSieveScript];
    };
    t.deepEqual(await stored(), [[], null]);
    await writer.commit([put('b', 'keep;'), put('ä/ "x"', '# ü\r\nstop;'), activate('b')]);
    t.deepEqual(await stored(), [['b: keep;', 'ä/ "x": # ü\r\nstop;'], 'b']);
    await writer.commit([put('c', 'keep;'), activate('c'), remove('b')]);
    t.deepEqual(await stored(), [['c: keep;', 'ä/ "x": # ü\r\nstop;'], 'c']);
    await writer.commit([remove('c'), put('c', 'discard;'), remove('none'), activate(null)]);
    t.deepEqual(await stored(), [['c: discard;', 'ä/ "x": # ü\r\nstop;'], null]);
    await writer.commit([put('d', 'keep;'), remove('d'), activate('c')]);
    t.deepEqual(await stored(), [['c: discard;', 'ä/ "x": # ü\r\nstop;'], 'c']);
    await writer.commit([put('e', 'keep;'), activate(null)], { epoch: 0 });
    t.deepEqual(await stored(), [['c: discard;', 'ä/ "x": # ü\r\nstop;'], 'c'], 'a fenced commit writes nothing');
  },
};
