// Tests Maildirs: names of folders and files, both layouts, broken ones; and an export that is imported again.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import * as fc from 'fast-check';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { placesOf } from '../../src/import-export/folder-places.js';
import {
  directoryOf,
  exportedName,
  flagsOfName,
  infoOf,
  keywordsOf,
  levelsOfDirectory,
  uniqueName,
} from '../../src/import-export/maildir-names.js';
import { maildirSource, NotMaildir } from '../../src/import-export/maildir-source.js';
import { MaildirFolderWriter } from '../../src/import-export/maildir-writer.js';
import type { SourceItem } from '../../src/import-export/source.js';
import test from '../support/test.js';

const DATE = Date.UTC(2001, 1, 3, 4, 5, 6, 789);

async function read(root: string): Promise<SourceItem[]> {
  const source = await maildirSource(root);
  const items: SourceItem[] = [];
  for await (const item of source.items()) items.push(item);
  checkProgress(source.progress);
  return items;
}

/** Checks that everything was read. */
function checkProgress({ done, total }: { readonly done: number; readonly total: number }): void {
  if (done !== total) throw new Error(`${done} of ${total} read`);
}

function maildir(root: string, files: Readonly<Record<string, string>>): string {
  for (const [name, content] of Object.entries(files)) {
    const file = join(root, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, content);
    utimesSync(file, DATE / 1000, DATE / 1000);
  }
  return root;
}

const shown = (items: readonly SourceItem[]) =>
  items.map((item) =>
    item.kind === 'message'
      ? [item.folder, Buffer.from(item.bytes).toString('latin1'), item.flags, item.receivedAt]
      : item,
  );

test('folders of Maildir++ and of nested directories, flags, keywords and dates', async (t) => {
  const root = maildir(temporaryDirectory('mansio-maildir-'), {
    'cur/2.b:2,FS': 'B: 2\n\n',
    'cur/10.c:2,Tab': 'C: 3\n\n',
    'new/1.a': 'A: 1\r\n\r\nx\n',
    'dovecot-keywords': '0 Work\n1 $Forwarded\n',
    '.Zo&AOs- &2D3cjA-.2001/cur/1.d!2,PR': 'D: 4\n',
    '.Sent Items/cur/1.e:2,S': 'E: 5\n',
    '.Gelöscht/new/1.f': 'F: 6\n',
    'Fs/Inner/cur/1.g:2,D': 'G: 7\n',
    'courierimapkeywords/list': 'no mail',
  });
  t.deepEqual(shown(await read(root)), [
    ['INBOX', 'A: 1\r\n\r\nx\n', [], DATE],
    ['INBOX', 'B: 2\r\n\r\n', ['\\Flagged', '\\Seen'], DATE],
    ['INBOX', 'C: 3\r\n\r\n', ['\\Deleted', 'Work', '$Forwarded'], DATE],
    ['Gelöscht', 'F: 6\r\n', [], DATE],
    ['Sent', 'E: 5\r\n', ['\\Seen'], DATE],
    ['Zoë 💌/2001', 'D: 4\r\n', ['$Forwarded', '\\Answered'], DATE],
    ['Fs/Inner', 'G: 7\r\n', ['\\Draft'], DATE],
  ]);
  await t.throwsAsync(read(join(root, 'courierimapkeywords')), { instanceOf: NotMaildir });
});

test('octets of an export stay as they are, whatever the directory is called', async (t) => {
  const file = 'cur/1.00000000-0000-7000-8000-000000000001_1.mansio,S=4:2,S';
  const root = maildir(join(temporaryDirectory('mansio-maildir-'), 'of 12:2, 2001'), { [file]: 'A: 1\n' });
  t.deepEqual(shown(await read(root)), [['INBOX', 'A: 1\n', ['\\Seen'], DATE]]);
});

test('what is no message is reported by its file, and a link is not followed', async (t) => {
  const root = maildir(temporaryDirectory('mansio-maildir-'), {
    'cur/1.empty:2,': '',
    'cur/3.good:2,': 'A: 1\n',
    'cur/2.directory/file': 'x',
  });
  symlinkSync('/etc/hostname', join(root, 'cur/4.link:2,'));
  const items = await read(root);
  t.deepEqual(
    items.map((item) => (item.kind === 'failure' ? [item.where.slice(root.length + 1), item.problem] : item.kind)),
    [
      ['cur/1.empty:2,', 'empty'],
      ['cur/2.directory', 'not a file'],
      'message',
      ['cur/4.link:2,', `ELOOP: too many symbolic links encountered, open '${root}/cur/4.link:2,'`],
    ],
  );
});

test('a directory that cannot be read, or whose name is no UTF-8, is reported and the others are read', async (t) => {
  const root = maildir(temporaryDirectory('mansio-maildir-'), {
    'cur/1.a:2,': 'A: 1\n',
    '.Locked/cur/1.b:2,': 'B: 2\n',
    '.Locked/new/2.c': 'C: 3\n',
    '.Work/cur/1.d:2,': 'D: 4\n',
  });
  const unnamed = Buffer.concat([Buffer.from(`${root}/.Caf`), Buffer.from([0xe9])]);
  mkdirSync(Buffer.concat([unnamed, Buffer.from('/cur')]), { recursive: true });
  // Only root can read it.
  chmodSync(join(root, '.Locked/cur'), 0);
  t.teardown(() => chmodSync(join(root, '.Locked/cur'), 0o700));
  const isRoot = process.getuid?.() === 0;
  const items = await read(root);
  t.deepEqual(
    items.map((item) =>
      item.kind === 'failure'
        ? `${item.where.slice(root.length + 1)} ${item.problem.split(':')[0]}`
        : shown([item])[0]!,
    ),
    [
      ['INBOX', 'A: 1\r\n', [], DATE],
      '.Caf\u{fffd} ENOENT',
      isRoot ? ['Locked', 'B: 2\r\n', [], DATE] : '.Locked/cur EACCES',
      ['Locked', 'C: 3\r\n', [], DATE],
      ['Work', 'D: 4\r\n', [], DATE],
    ],
  );
  await t.throwsAsync(read(join(root, 'nowhere')), { code: 'ENOENT' });
});

test('any path has a directory, and the directory gives the path again', (t) => {
  const level = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((text) => !/[/\p{Cc}\p{Cs}]/u.test(text));
  fc.assert(
    fc.property(fc.array(level, { minLength: 1, maxLength: 3 }), (levels) => {
      const path = levels.join('/');
      const directory = directoryOf(path);
      if (path.toLowerCase() === 'inbox') return directory === '';
      return /^\.[\x20-\x7e]+$/.test(directory) && levelsOfDirectory(directory).join('/') === path;
    }),
  );
  t.is(directoryOf('Zoë 💌/v1.2 & mehr'), '.Zo&AOs- &2D3cjA-.v1&AC4-2 &- mehr');
  t.true(Buffer.byteLength(directoryOf('ü'.repeat(1000))) <= 255);
  t.not(directoryOf('ü'.repeat(999)), directoryOf('ü'.repeat(1000)));
});

test('names of files keep their flags', (t) => {
  const keywords = keywordsOf('0 Work\n2 Old\n31 Not\nno line\n');
  t.deepEqual(keywords, ['Work', undefined, 'Old']);
  const flags = ['\\seen', '\\Draft', 'WORK', 'Old', '$Forwarded', 'Unknown'];
  t.is(infoOf(flags, keywords), ':2,DPSac');
  t.deepEqual(flagsOfName('1.a,S=3:2,DPSacz', keywords), ['\\Draft', '$Forwarded', '\\Seen', 'Work', 'Old']);
  t.is(uniqueName('1.a,S=3:2,DP'), '1.a,S=3');
  t.deepEqual(flagsOfName('1.a', keywords), []);
});

test('folders of elsewhere find those of the system, and others keep their names as far as they may', (t) => {
  const places = (...names: string[]) => placesOf(names.map((name) => ({ levels: name.split('|') })));
  t.deepEqual(places('inbox', 'Sent Items', 'Deleted Messages', 'INBOX|Drafts', '[Gmail]|Spam', 'Archives'), [
    'INBOX',
    'Sent',
    'Trash',
    'Drafts',
    'Junk',
    'Archive',
  ]);
  t.deepEqual(places('SENT', 'Sent Items'), ['Sent', 'Sent Items'], 'the role is taken');
  t.deepEqual(places('Work|Sent', 'INBOX|Work', 'Outbox'), ['Work/Sent', 'INBOX/Work', 'Outbox (imported)']);
  t.deepEqual(places('a/b| c ', '|', '\u0000x'), ['a-b/c', '_/_', '\u{fffd}x']);
  t.is(Array.from(places('💌'.repeat(150))[0]!).length, 100);
  t.true(places(Array.from({ length: 40 }, () => 'x'.repeat(100)).join('|'))[0]!.length <= 1000);
  t.deepEqual(
    placesOf([{ levels: ['Ablage'], special: 'Archive' }, { levels: ['Archives'] }]),
    ['Archive', 'Archives'],
    'what the server says counts',
  );
});

test('a folder that is written is read as it was, and what is there is known', async (t) => {
  const root = temporaryDirectory('mansio-maildir-');
  const writer = await MaildirFolderWriter.open(root, 'Zoë 💌/v1.2');
  const keywords = Array.from({ length: 30 }, (_, i) => `k${i}`);
  t.deepEqual(await writer.declare(new Set(['\\Seen', ...keywords])), keywords.slice(26));
  const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`;
  const message = { size: 4, receivedAt: DATE, flags: ['\\Seen', 'k25', 'k26'] };
  const octets = Buffer.from('A: \xff\nx\r\n', 'latin1');
  await writer.write({ ...message, emailId: id(2), uid: 9 }, octets);
  await writer.write(
    { ...message, emailId: id(1), uid: 10, flags: [] },
    (async function* () {
      yield Buffer.from('B:');
      yield Buffer.from(' 2\n');
    })(),
  );
  await t.throwsAsync(
    writer.write(
      { ...message, emailId: id(3), uid: 11 },
      (async function* () {
        yield Buffer.from('B:');
        throw new Error('cut');
      })(),
    ),
    { message: 'cut' },
  );
  const again = await MaildirFolderWriter.open(root, 'Zoë 💌/v1.2');
  t.deepEqual(
    [id(1), id(2), id(3)].map((each) => again.holds(each)),
    [true, true, false],
  );
  t.deepEqual(await again.declare(new Set(['K3', 'k29'])), ['k29']);
  await MaildirFolderWriter.open(root, 'INBOX');
  t.deepEqual(shown(await read(root)), [
    ['Zoë 💌/v1.2', octets.toString('latin1'), ['\\Seen', 'k25'], DATE],
    ['Zoë 💌/v1.2', 'B: 2\n', [], DATE],
  ]);
  const directory = join(root, directoryOf('Zoë 💌/v1.2'));
  t.deepEqual(readdirSync(join(directory, 'tmp')), []);
  t.is(readFileSync(join(directory, 'maildirfolder'), 'utf8'), '');
  t.is(statSync(directory).mode & 0o77, 0, 'mail is for its owner alone');
});

test('links to directories and files of keywords are not followed, and a pipe holds up nothing', async (t) => {
  const other = maildir(temporaryDirectory('mansio-maildir-'), {
    'new/1.x': 'Subject: secret\n\n',
    keywords: '0 Secret\n',
  });
  const root = maildir(temporaryDirectory('mansio-maildir-'), {
    'cur/1.a:2,Sa': 'Subject: a\n\n',
    '.Sub/cur/1.b:2,a': 'Subject: b\n\n',
  });
  symlinkSync(join(other, 'new'), join(root, 'new'));
  symlinkSync(join(other, 'keywords'), join(root, '.Sub', 'dovecot-keywords'));
  execFileSync('mkfifo', [join(root, 'dovecot-keywords')]);
  const items = await read(root);
  t.deepEqual(
    items.map((item) =>
      item.kind === 'message' ? [Buffer.from(item.bytes).toString(), item.flags] : 'problem' in item && item.problem,
    ),
    [
      `${root}/new is no directory, or another one than before`,
      ['Subject: a\r\n\r\n', ['\\Seen']],
      ['Subject: b\r\n\r\n', []],
    ],
  );
});

/** Reads a Maildir; after the first message, replaces a directory by a link to that of another user. */
async function readWithSwap(t: ExecutionContext, swapped: string) {
  const other = maildir(temporaryDirectory('mansio-maildir-'), {
    '1.a:2,': 'Subject: secret\n\n',
    '2.b:2,': 'Subject: secret\n\n',
    'cur/3.c:2,': 'Subject: secret\n\n',
  });
  const root = maildir(temporaryDirectory('mansio-maildir-'), {
    'cur/1.a:2,': 'Subject: a\n\n',
    'cur/2.b:2,': 'Subject: b\n\n',
    '.Sub/cur/3.c:2,': 'Subject: c\n\n',
  });
  const source = await maildirSource(root);
  const items: SourceItem[] = [];
  for await (const item of source.items()) {
    if (items.length === 0) {
      renameSync(join(root, swapped), join(root, 'tmp'));
      symlinkSync(other, join(root, swapped));
    }
    items.push(item);
  }
  t.false(JSON.stringify(shown(items)).includes('secret'));
  return items.map((item) => (item.kind === 'failure' ? item.where.slice(root.length + 1) : item.kind));
}

test('a directory that is replaced by a link midway is not followed', async (t) => {
  t.deepEqual(await readWithSwap(t, 'cur'), ['message', 'cur/2.b:2,', 'message']);
  t.deepEqual(await readWithSwap(t, '.Sub'), ['message', 'message', '.Sub/cur']);
});

test('an export writes through no link', async (t) => {
  const other = maildir(temporaryDirectory('mansio-maildir-'), { precious: 'kept\n' });
  const precious = join(other, 'precious');
  const root = maildir(temporaryDirectory('mansio-maildir-'), { '.Sub/tmp/x': '', '.Sub/cur/x': '' });
  const message = {
    size: 4,
    receivedAt: DATE,
    flags: ['work'],
    emailId: '00000000-0000-7000-8000-000000000001',
    uid: 1,
  };
  const name = exportedName(message, message.receivedAt, message.size);
  for (const link of ['maildirfolder', 'dovecot-keywords', 'dovecot-keywords.new', `tmp/${name}`])
    symlinkSync(precious, join(root, '.Sub', link));
  const writer = await MaildirFolderWriter.open(root, 'Sub');
  await writer.declare(new Set(message.flags));
  await writer.write(message, Buffer.from('A: 1'));
  t.is(readFileSync(precious, 'utf8'), 'kept\n');
  t.is(readFileSync(join(root, '.Sub/cur', `${name}:2,a`), 'utf8'), 'A: 1');
  t.is(readFileSync(join(root, '.Sub/dovecot-keywords'), 'utf8'), '0 work\n');
  symlinkSync(other, join(root, '.Linked'));
  await t.throwsAsync(MaildirFolderWriter.open(root, 'Linked'), { message: /\.Linked is a link or no directory/ });
  t.deepEqual(readdirSync(other), ['precious']);
});
