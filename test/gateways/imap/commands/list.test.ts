// Tests LIST, LSUB, NAMESPACE and STATUS.

import fc from 'fast-check';
import { encodeModifiedUtf7 } from '../../../../src/mail-format/modified-utf7.js';
import test from '../../../support/test.js';
import type { ImapClient } from '../client.js';
import { ALICE, startImap } from '../gateway.js';

const ok = async (client: ImapClient, text: string): Promise<readonly string[]> => {
  const { tagged, untagged } = await client.command(text);
  if (!tagged.startsWith('OK')) throw new Error(`${text}: ${tagged}`);
  return untagged;
};

const SYSTEM = [
  'LIST (\\HasNoChildren) "/" INBOX',
  'LIST (\\HasNoChildren \\Sent) "/" Sent',
  'LIST (\\HasNoChildren \\Drafts) "/" Drafts',
  'LIST (\\HasNoChildren \\Archive) "/" Archive',
  'LIST (\\HasNoChildren \\Trash) "/" Trash',
  'LIST (\\HasNoChildren \\Junk) "/" Junk',
];

test('the system folders have their special uses, and an empty pattern asks for the separator', async (t) => {
  const { open } = await startImap(t);
  const client = await open();
  t.deepEqual([...(await ok(client, 'LIST "" *'))].sort(), [...SYSTEM].sort());
  t.deepEqual(await ok(client, 'LIST "" ""'), ['LIST (\\Noselect) "/" ""']);
  t.deepEqual(await ok(client, 'LIST "Work/" ""'), ['LIST (\\Noselect) "/" ""']);
  t.deepEqual(await ok(client, 'LIST "" inbox'), [SYSTEM[0]]);
  t.deepEqual(await ok(client, 'LIST "" ("")'), []);
  t.deepEqual(await ok(client, 'NAMESPACE'), ['NAMESPACE (("" "/")) NIL NIL']);
});

test('levels above mailboxes are listed for a percent, and not for a star', async (t) => {
  const { open } = await startImap(t);
  const client = await open();
  for (const name of ['Work/Clients/ACME', 'work/b', 'inbox/x']) await ok(client, `CREATE "${name}"`);
  const names = async (command: string) => (await ok(client, command)).filter((line) => /Work|INBOX/.test(line));
  t.deepEqual(await names('LIST "" %'), [
    'LIST (\\HasChildren) "/" INBOX',
    'LIST (\\Noselect \\NonExistent \\HasChildren) "/" Work',
  ]);
  t.deepEqual(await names('LIST "" *'), [
    'LIST (\\HasChildren) "/" INBOX',
    'LIST (\\HasNoChildren) "/" INBOX/x',
    'LIST (\\HasNoChildren) "/" Work/b',
    'LIST (\\HasNoChildren) "/" Work/Clients/ACME',
  ]);
  t.deepEqual(await names('LIST Work/ %'), [
    'LIST (\\HasNoChildren) "/" Work/b',
    'LIST (\\Noselect \\NonExistent \\HasChildren) "/" Work/Clients',
  ]);
  t.deepEqual(await names('LIST "" Work'), ['LIST (\\Noselect \\NonExistent \\HasChildren) "/" Work']);
  t.deepEqual(await names('LIST "" INBOX/%'), ['LIST (\\HasNoChildren) "/" INBOX/x']);
});

test('selection and return options', async (t) => {
  const { open } = await startImap(t);
  const client = await open();
  for (const name of ['a', 'a/b', 'c/d/e']) await ok(client, `CREATE ${name}`);
  for (const name of ['a', 'INBOX', 'Sent', 'Drafts', 'Archive', 'Trash', 'Junk'])
    await ok(client, `UNSUBSCRIBE ${name}`);
  t.deepEqual(await ok(client, 'LIST (SUBSCRIBED) "" *'), [
    'LIST (\\HasNoChildren \\Subscribed) "/" a/b',
    'LIST (\\HasNoChildren \\Subscribed) "/" c/d/e',
  ]);
  t.deepEqual(await ok(client, 'LIST (SUBSCRIBED) "" %'), []);
  t.deepEqual(await ok(client, 'LIST (SUBSCRIBED RECURSIVEMATCH) "" %'), [
    'LIST (\\HasChildren) "/" a ("CHILDINFO" ("SUBSCRIBED"))',
    'LIST (\\Noselect \\NonExistent \\HasChildren) "/" c ("CHILDINFO" ("SUBSCRIBED"))',
  ]);
  t.deepEqual(await ok(client, 'LIST (SPECIAL-USE REMOTE) "" (Dr% Se%)'), [SYSTEM[1], SYSTEM[2]]);
  t.deepEqual(await ok(client, 'LIST "" a* RETURN (SUBSCRIBED CHILDREN SPECIAL-USE)'), [
    'LIST (\\HasChildren) "/" a',
    'LIST (\\HasNoChildren \\Subscribed) "/" a/b',
  ]);
  t.regex((await client.command('LIST (RECURSIVEMATCH) "" *')).tagged, /^BAD /);
  t.deepEqual(await ok(client, 'LSUB "" %'), ['LSUB (\\Noselect) "/" a', 'LSUB (\\Noselect) "/" c']);
  t.deepEqual(await ok(client, 'LSUB "" *'), ['LSUB () "/" a/b', 'LSUB () "/" c/d/e']);
});

test('names of any writing go in and out', async (t) => {
  const { open, mailboxes } = await startImap(t);
  const client = await open();
  await ok(client, 'CREATE "Zo&AOs- &2D3cjA- &- x"');
  await ok(client, 'CREATE "q\\"uote\\\\s"');
  t.deepEqual(await ok(client, 'LIST "" Z*'), ['LIST (\\HasNoChildren) "/" "Zo&AOs- &2D3cjA- &- x"']);
  t.deepEqual(await ok(client, 'LIST "" "q\\"*"'), ['LIST (\\HasNoChildren) "/" "q\\"uote\\\\s"']);
  const { reply } = await mailboxes.refs.of(ALICE).ask('folders', {});
  t.deepEqual(
    reply!.folders.slice(6).map(({ name, role }) => [name, role]),
    [
      ['q"uote\\s', 'label'],
      ['Zoë 💌 & x', 'label'],
    ],
  );
  await ok(client, 'ENABLE IMAP4rev2');
  const [line] = await ok(client, 'LIST "" "Zo\u00eb*"');
  t.is(Buffer.from(line!, 'latin1').toString('utf8'), 'LIST (\\HasNoChildren) "/" "Zoë 💌 & x"');
});

test('STATUS has every item, alone and with LIST, and REST sees the same', async (t) => {
  const { open, deliver, mailboxes } = await startImap(t);
  const client = await open();
  const message = 'Subject: a\r\n\r\nb\r\n';
  await deliver(ALICE, message);
  const items =
    'MESSAGES RECENT UIDNEXT UIDVALIDITY UNSEEN DELETED SIZE HIGHESTMODSEQ MAILBOXID APPENDLIMIT DELETED-STORAGE';
  const [line] = await ok(client, `STATUS inbox (${items})`);
  const { folders } = (await mailboxes.refs.of(ALICE).ask('folderStatus', { folderIds: ['inbox'] })).reply!;
  const { id, uidValidity, modseq } = folders[0]!;
  const values = `MESSAGES 1 RECENT 0 UIDNEXT 2 UIDVALIDITY ${uidValidity} UNSEEN 1 DELETED 0 SIZE ${message.length} HIGHESTMODSEQ ${modseq} MAILBOXID (${id}) APPENDLIMIT 36700160 DELETED-STORAGE 0`;
  t.is(line, `STATUS INBOX (${values})`);
  t.deepEqual(await ok(client, 'LIST "" (INBOX Sent nothing) RETURN (STATUS (MESSAGES UNSEEN))'), [
    SYSTEM[0],
    'STATUS INBOX (MESSAGES 1 UNSEEN 1)',
    SYSTEM[1],
    'STATUS Sent (MESSAGES 0 UNSEEN 0)',
  ]);
  t.is((await client.command('STATUS nothing (MESSAGES)')).tagged, 'NO [NONEXISTENT] There is no such mailbox');
  t.regex((await client.command('STATUS INBOX (NOTHING)')).tagged, /^BAD /);
});

test('patterns with wildcards are bounded', async (t) => {
  const { open } = await startImap(t);
  const client = await open();
  t.regex((await client.command(`LIST "" "${'*a'.repeat(600)}"`)).tagged, /^NO \[LIMIT\] /);
  t.deepEqual(await ok(client, `LIST "" "${'*%'.repeat(498)}Sent"`), [SYSTEM[1]]);
});

const LEVELS = ['Zoë 💌', 'a&b', 'say "hi"', 'back\\slash', '&-', 'a', 'ab', '日本語', '.+'];
const PIECES = ['*', '*', '*', '%', '%', '%', '/', '/', ...LEVELS, 'b', '&', '"', '\\', 'Z'];

function isMatch(pattern: string, name: string): boolean {
  const source = Array.from(pattern, (character) => {
    if (character === '*') return '.*';
    if (character === '%') return '[^/]*';
    return character.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`, name === 'INBOX' ? 'isu' : 'su').test(name);
}

test('LIST gives the names that a naive regular expression matches, whatever characters they have', async (t) => {
  const { open, mailboxes } = await startImap(t);
  const client = await open();
  const name = fc.array(fc.constantFrom(...LEVELS), { minLength: 1, maxLength: 3 }).map((levels) => levels.join('/'));
  const labels = new Set(fc.sample(name, 40));
  for (const label of labels) {
    await mailboxes.refs.of(ALICE).ask('createLabel', { name: label, color: '#808080', sortOrder: 0 });
  }
  const names = new Set(['INBOX', 'Sent', 'Drafts', 'Archive', 'Trash', 'Junk', ...labels]);
  const levels = new Set<string>();
  for (const path of names) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) levels.add(parts.slice(0, depth).join('/'));
  }
  const quoted = (text: string) => `"${encodeModifiedUtf7(text).replace(/["\\]/g, '\\$&')}"`;
  let listed = 0;
  for (const pieces of fc.sample(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }), 300)) {
    const pattern = pieces.join('');
    const withLevels = pattern.endsWith('%') || !/[*%]/.test(pattern);
    const expected = [...names, ...(withLevels ? [...levels].filter((level) => !names.has(level)) : [])];
    const found = await ok(client, `LIST "" ${quoted(pattern)}`);
    const wanted = expected.filter((path) => isMatch(pattern, path)).map((path) => encodeModifiedUtf7(path));
    const shown = found.map((line) =>
      line
        .replace(/^LIST \([^)]*\) "\/" /, '')
        .replace(/^"(.*)"$/, '$1')
        .replace(/\\(.)/g, '$1'),
    );
    t.deepEqual(shown.sort(), wanted.sort(), pattern);
    listed += shown.length;
  }
  t.true(listed > 200);
});
