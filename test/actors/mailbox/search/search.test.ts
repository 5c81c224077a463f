// Tests search on a real store: what matches, what is left out, that no email in the inbox is ever missed, and random mail and
// queries against the plain definition.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { unpackUids } from '../../../../src/mail-format/packed-columns.js';
import { fold, searchTerms, wordsOf } from '../../../../src/mail-format/words/search-text.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { type Mail, setUp } from './search-world.js';

test('a search of words that take too much memory is refused, and others are answered', async (t) => {
  const { account, deliver, mailbox } = await setUp(t, { memoryOctets: 1 });
  const id = await account();
  const body = Array.from({ length: 2_000 }, (_, n) => `zoë${n} 💌`).join(' ');
  const emailId = await deliver(id, { body });
  const ask = async (query: string) => {
    const terms = searchTerms(query).map(({ words, prefix }) => ({ words: [...words], prefix }));
    const search = { terms, page: 1, pageSize: 10 };
    const lists = [{ query: { search } }];
    return {
      search: await mailbox(id).ask('search', search),
      folder: await mailbox(id).ask('searchFolder', { folderId: 'inbox', terms, part: 'body' }),
      list: (await mailbox(id).ask('lists', { lists, emailIds: [] })).reply!.lists[0]!,
    };
  };
  const large = await ask('"zoë7 💌"');
  t.deepEqual(
    [large.search.refusal, large.folder.refusal, large.list.refusal],
    ['searchTooLarge', 'searchTooLarge', 'searchTooLarge'],
  );
  const small = await ask('zoë7');
  t.deepEqual(
    small.search.reply?.items.map((item) => item.id),
    [emailId],
  );
  t.deepEqual([...unpackUids(small.folder.reply!.uids)], [1]);
  t.deepEqual(small.list.state?.emailIds, [emailId]);
});

test('a folder is searched by its UIDs, in all that is indexed or in bodies alone, emails that have just come included', async (t) => {
  const { account, deliver, mailbox, reload } = await setUp(t);
  const id = await account();
  const emailIds: string[] = [];
  for (let i = 0; i < 40; i++) {
    const subject = i % 10 === 3 ? 'Grüße aus Köln' : `mail ${i}`;
    const body = i % 10 === 4 ? 'the quick brown fox, grüßend' : i === 20 ? 'köln' : '';
    emailIds.push(await deliver(id, { subject, body, files: i === 7 ? 'köln.pdf' : '' }));
  }
  const found = async (folderId: string, query: string, part: 'text' | 'body' = 'text') => {
    const terms = searchTerms(query).map(({ words, prefix }) => ({ words: [...words], prefix }));
    const { reply, refusal } = await mailbox(id).ask('searchFolder', { folderId, terms, part });
    return refusal ?? [...unpackUids(reply!.uids)];
  };
  t.deepEqual(await found('inbox', 'koln'), [4, 8, 14, 21, 24, 34]);
  t.deepEqual(await found('inbox', 'koln', 'body'), [8, 21]);
  t.deepEqual(await found('inbox', 'grus', 'body'), [5, 15, 25, 35]);
  t.deepEqual(await found('inbox', '"quick brown" gruss', 'body'), [5, 15, 25, 35]);
  t.deepEqual(await found('inbox', '"brown quick"', 'body'), []);
  t.is((await found('inbox', '')).length, 40, 'without terms');
  t.deepEqual(await found('nowhere', 'koln'), 'noSuchFolder');
  const moved = [emailIds[23]!, emailIds[3]!, emailIds[5]!];
  await mailbox(id).ask('move', { selection: { emailIds: moved }, toFolderId: 'archive' });
  await deliver(id, { body: 'Köln' });
  for (const owner of ['the same', 'another']) {
    t.deepEqual(await found('inbox', 'koln'), [8, 14, 21, 34, 41], owner);
    t.deepEqual(await found('archive', 'koln'), [1, 2], owner);
    t.deepEqual(await found('archive', 'koln', 'body'), [], owner);
    t.deepEqual(await found('archive', 'mail'), [3], owner);
    reload();
  }
});

test('recipients and names of attachments are found too', async (t) => {
  const { account, deliver, found } = await setUp(t);
  const id = await account();
  await deliver(id, { subject: 'to', recipients: 'Dr. Zoë Müller zoe@c.test carl@f.test', body: 'x' });
  await deliver(id, { subject: 'file', files: 'Quarterly Report 2026.pdf', body: 'y' });
  t.deepEqual(await found(id, 'zoe'), ['to']);
  t.deepEqual(await found(id, 'carl@f.test'), ['to']);
  t.deepEqual(await found(id, '"quarterly report"'), ['file']);
  t.deepEqual(await found(id, 'repo pdf'), ['file']);
  t.deepEqual(await found(id, 'pdf zoe'), []);
});

test('words, prefixes, phrases, senders and accents find what they should, at once', async (t) => {
  const { account, deliver, found } = await setUp(t);
  const [id, other] = [await account(), await account()];
  await deliver(id, { subject: 'Grüße aus Köln', from: 'zoe.mueller@remote-mail.example', name: 'Zoë Müller' });
  await deliver(id, { subject: 'second', body: "The quick brown fox. It's 東京タワー, naïve café; big ﬁle x_y" });
  await deliver(id, { subject: 'third', body: 'the brown quick fox and foxtrot' });
  await deliver(other, { subject: 'quick grüße' });
  const cases: readonly [string, readonly string[]][] = [
    ['grusse', ['Grüße aus Köln']],
    ['GRÜSSE koeln', []],
    ['koln gru', ['Grüße aus Köln']],
    ['zoe', ['Grüße aus Köln']],
    ['example', ['Grüße aus Köln']],
    ['zoe.mueller@remote-mail.example', ['Grüße aus Köln']],
    ['mueller@remote', ['Grüße aus Köln']],
    ['remote@mueller', []],
    ['quick', ['third', 'second']],
    ['qui bro', ['third', 'second']],
    ['"quick brown"', ['second']],
    ['"quick bro"', []],
    ['"brown quick" trot', []],
    ['foxt', ['third']],
    ['"fox"', ['third', 'second']],
    ['ox', []],
    ['東京', ['second']],
    ['京東', []],
    ['タワー', ['second']],
    ['naive cafe file', ['second']],
    ["it's", ['second']],
    ['x_y', ['second']],
    ['"koln third"', []],
    ["'; drop table x; --", []],
    ['the & !quick | fox:*', ['third', 'second']],
    ['quick & fox', ['third', 'second']],
    ['', ['third', 'second', 'Grüße aus Köln']],
  ];
  for (const [q, expected] of cases) t.deepEqual(await found(id, q), expected, q);
});

test('dates, flags, attachments, pages and folders narrow what is found', async (t) => {
  const { sql, account, deliver, found, find, mailbox, reload } = await setUp(t);
  const id = await account();
  const ids: string[] = [];
  for (let i = 0; i < 6; i++)
    ids.push(
      await deliver(id, { subject: `mail ${i}`, receivedAt: [10, 20, 20, 5, 40, 30][i]!, attachment: i % 2 === 0 }),
    );
  const all = ['mail 4', 'mail 5', 'mail 2', 'mail 1', 'mail 0', 'mail 3'];
  t.deepEqual(await found(id, 'mail'), all);
  t.deepEqual(await found(id, ''), all);
  for (const q of ['', 'mail']) {
    t.deepEqual(await found(id, q, { from: 20, to: 30 }), ['mail 5', 'mail 2', 'mail 1']);
    t.deepEqual(await found(id, q, { from: 31, to: 29 }), []);
    t.deepEqual(await found(id, q, { hasAttachments: true }), ['mail 4', 'mail 2', 'mail 0']);
    t.deepEqual(await found(id, q, { page: 2, pageSize: 4 }), ['mail 0', 'mail 3']);
  }
  await mailbox(id).ask('setRead', { emailIds: [ids[0]!, ids[1]!], isRead: true });
  t.like(await find(id, 'mail'), { totalCount: 6, unreadCount: 4 });
  t.like(await find(id, 'mail', { isRead: true }), { totalCount: 2, unreadCount: 0 });
  t.like(await find(id, 'mail', { isRead: false, pageSize: 1 }), { totalCount: 4, unreadCount: 4 });

  const place = (email: string, role: string, keep: boolean) =>
    sql.begin(async (tx) => {
      if (!keep) await tx`delete from placements where account_id = ${id} and email_id = ${email}`;
      await tx`insert into placements (account_id, folder_id, uid, email_id, modseq)
      select ${id}, id, 1, ${email}, 1 from folders where account_id = ${id} and role = ${role}`;
      await tx`update folders f set uidnext = 100, total = (select count(*) from placements p where p.folder_id = f.id)
      where account_id = ${id}`;
    });
  await place(ids[0]!, 'trash', false);
  await place(ids[1]!, 'junk', true);
  await place(ids[2]!, 'archive', false);
  reload();
  t.deepEqual(await found(id, 'mail'), ['mail 4', 'mail 5', 'mail 2', 'mail 1', 'mail 3']);
  t.deepEqual(await found(id, ''), ['mail 4', 'mail 5', 'mail 2', 'mail 1', 'mail 3']);
  t.deepEqual(await found(id, 'mail', { folder: 'junk' }), ['mail 1']);
  t.deepEqual(await found(id, '', { folder: 'trash' }), ['mail 0']);
  t.deepEqual(await found(id, 'mail', { folder: 'archive' }), ['mail 2']);
  const [inbox] = await sql<{ id: string }[]>`select id from folders where account_id = ${id} and role = 'inbox'`;
  t.deepEqual(await found(id, 'mail', { folder: inbox!.id, to: 20 }), ['mail 1', 'mail 3']);
  for (const folder of ['label', 'nowhere', randomUUID()]) {
    const asked = await mailbox(id).ask('search', { terms: [], folder, page: 1, pageSize: 10 });
    t.is(asked.refusal, 'noSuchFolder');
    t.is((await mailbox(id).ask('exportCount', { folder })).refusal, 'noSuchFolder');
  }
  const page = await mailbox(id).ask('exportPage', { place: null, limit: 3 });
  const rest = await mailbox(id).ask('exportPage', { place: page.reply!.place, limit: 3 });
  t.deepEqual(
    [...page.reply!.emails, ...rest.reply!.emails].map((email) => email.id),
    [ids[3]!, ids[1]!, ids[2]!, ids[5]!, ids[4]!],
  );
  t.is(rest.reply!.place, null);
  t.is((await mailbox(id).ask('exportCount', { from: 20 })).reply!.count, 4);
  const junk = await mailbox(id).ask('exportPage', { folder: 'junk', place: null, limit: 3 });
  t.deepEqual(
    junk.reply!.emails.map((email) => email.id),
    [ids[1]!],
  );
  t.is((await mailbox(id).ask('exportCount', { folder: 'trash' })).reply!.count, 1);
});

test('sent emails of one sender are a list of their own', async (t) => {
  const { sql, account, deliver, mailbox, reload } = await setUp(t);
  const id = await account();
  const from = ['Me@example.test', 'other@example.test', 'me@example.test', 'me@example.test'];
  const ids: string[] = [];
  for (const [i, address] of from.entries()) ids.push(await deliver(id, { from: address, receivedAt: 10 + i }));
  await mailbox(id).ask('setRead', { emailIds: [ids[2]!], isRead: true });
  const as = (role: string, now: string) =>
    sql`update folders set role = ${now} where account_id = ${id} and role = ${role}`;
  await as('sent', 'label');
  await as('inbox', 'sent');
  await as('label', 'inbox');
  reload();
  const sent = async (query: object) => {
    const { reply } = await mailbox(id).ask('list', { folder: 'sent', page: 1, pageSize: 20, ...query });
    return { ...reply!, items: reply!.items.map((item) => ids.indexOf(item.id)) };
  };
  t.deepEqual(await sent({}), { items: [3, 2, 1, 0], totalCount: 4, unreadCount: 3 });
  t.deepEqual(await sent({ fromAddress: 'ME@' }), { items: [3, 2, 0], totalCount: 3, unreadCount: 2 });
  t.deepEqual(await sent({ fromAddress: 'me@', page: 2, pageSize: 2 }), { items: [0], totalCount: 3, unreadCount: 2 });
  t.deepEqual(await sent({ fromAddress: '%' }), { items: [], totalCount: 0, unreadCount: 0 });
  t.deepEqual((await mailbox(id).ask('sentAddresses', {})).reply, {
    addresses: ['me@example.test', 'other@example.test'],
  });
});

test('what is removed is found no more and leaves nothing behind; lost rows are made again', async (t) => {
  const { sql, search, account, deleteAccount, deliver, found, mailbox, reload } = await setUp(t);
  const id = await account();
  const { signal } = new AbortController();
  const indexed = async () => {
    const [row] = await sql`select coalesce(sum(emails), 0)::int as n from search_segments where account_id = ${id}`;
    return row?.['n'];
  };
  const ids = [];
  for (let i = 0; i < 250; i++) ids.push(await deliver(id, { subject: `word ${i}` }));
  t.is((await found(id, 'word')).length, 100);
  t.is(await indexed(), 250);
  await mailbox(id).ask('remove', { emailIds: [ids[0]!, ids[249]!] });
  await search.merge(id, { live: 0, signal });
  t.is(await indexed(), 248);
  t.deepEqual(await found(id, '"249"'), []);
  // The newest email is removed before it was searchable.
  const last = await deliver(id, { subject: 'word last' });
  await mailbox(id).ask('remove', { emailIds: [last] });
  t.deepEqual(await found(id, 'last'), []);
  reload();
  t.deepEqual(await found(id, 'word 77'), ['word 77']);
  await deliver(id, { subject: 'after it all' });
  t.deepEqual(await found(id, 'after'), ['after it all']);
  t.is(await indexed(), 249);
  await deleteAccount(id);
  t.is(await indexed(), 0);
  t.is((await sql`select from search_pages where account_id = ${id}`).length, 0);
  t.is((await sql`select from search_state where account_id = ${id}`).length, 0);
});

test('deliveries become searchable by themselves; a search that would wait long is refused', async (t) => {
  const { sql, gate, account, deliver, found } = await setUp(t, { quietMs: 50, searchWaitMs: 300 });
  const id = await account();
  let open = () => {};
  gate.open = new Promise((resolve) => {
    open = resolve;
  });
  await deliver(id, { subject: 'slow' });
  await t.throwsAsync(found(id, 'slow'), { code: 'overloaded' });
  open();
  for (;;) {
    const [row] = await sql`select count(*)::int as count from search_segments`;
    if (row!['count'] === 1) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // The row is there a moment before the search knows it, and a busy machine may take longer than a search waits.
  let subjects: readonly string[] | undefined;
  while (subjects === undefined) {
    subjects = await found(id, 'slow').catch((error: { readonly code?: string }) => {
      if (error.code !== 'overloaded') throw error;
      return undefined;
    });
  }
  t.deepEqual(subjects, ['slow']);
});

test('no text and no query breaks the index', async (t) => {
  const { account, deliver, found } = await setUp(t);
  const id = await account();
  const words = Array.from({ length: 60_000 }, (_, i) => `w${i.toString(36)}é漢`);
  await deliver(id, { subject: 'many words', body: words.join(' ') });
  await deliver(id, { subject: 'one word', body: 'ﷺ'.repeat(250_000) });
  await deliver(id, { subject: 'often', body: 'again '.repeat(40_000) });
  await deliver(id, { subject: `'a':1 \\ ' :* & "`, body: '\u0000 \ud800 \\\'"' });
  await deliver(id, { subject: 'wide', body: '\u{20000}'.repeat(60_000) });
  t.deepEqual(await found(id, 'w100'), ['many words']);
  t.deepEqual(await found(id, 'again'), ['often']);
  t.deepEqual(await found(id, '"again again"'), ['often']);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (q) => {
      await found(id, q);
    }),
    { numRuns: runs(60) },
  );
});

const someText = fc
  .array(fc.constantFrom('ann', 'Änn', 'anna', 'bob', 'bo', 'straße', 'strass', '漢', '字', '漢字', '-', '"'), {
    maxLength: 6,
  })
  .map((words) => words.join(' '));

/** Follows the definition: one of the fields has every term, as words in order, the last one as a prefix. */
function isMatch(mail: Required<Pick<Mail, 'subject' | 'body' | 'name' | 'from'>>, q: string): boolean {
  const fields = [mail.subject, `${mail.name} ${mail.from}`, mail.body].map((text) => wordsOf(fold(text)));
  return searchTerms(q).every(({ words, prefix }) =>
    fields.some((field) =>
      field.some((_, at) =>
        words.every((word, i) => {
          const candidate = field[at + i] ?? '';
          return i === words.length - 1 && prefix ? candidate.startsWith(word) : candidate === word;
        }),
      ),
    ),
  );
}

test('random mail and queries agree with the definition, whatever was removed in between', async (t) => {
  const { account, deliver, found, mailbox, reload } = await setUp(t);
  const mail = fc.record({
    subject: someText,
    body: someText,
    name: someText,
    from: fc.constantFrom('ann@b.test', 'x@bob'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 3, arbitrary: mail }, fc.nat(9)), { maxLength: 8 }),
      fc.array(someText, { minLength: 1, maxLength: 4 }),
      async (steps, queries) => {
        const id = await account();
        let model: { id: string; mail: Required<Pick<Mail, 'subject' | 'body' | 'name' | 'from'>> }[] = [];
        for (const step of steps) {
          if (typeof step === 'number') {
            const gone = model[step]?.id ?? randomUUID();
            await mailbox(id).ask('remove', { emailIds: [gone] });
            model = model.filter((email) => email.id !== gone);
            if (step === 0) reload();
          } else {
            model.unshift({ id: await deliver(id, step), mail: step });
          }
          for (const q of queries) {
            const expected = model.filter((email) => isMatch(email.mail, q)).map((email) => email.mail.subject);
            t.deepEqual(await found(id, q), expected, q);
          }
        }
      },
    ),
    { numRuns: runs(40) },
  );
});
