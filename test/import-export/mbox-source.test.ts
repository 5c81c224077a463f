// Tests mailbox files: any ends of pieces, line ends, quotes, dates and flags.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { fromLineDate, headerFlags } from '../../src/import-export/mbox-fields.js';
import { mboxSource } from '../../src/import-export/mbox-source.js';
import { MboxSplitter, NotMbox } from '../../src/import-export/mbox-splitter.js';
import type { SourceItem } from '../../src/import-export/source.js';
import { fromLine, MboxQuoter } from '../../src/mail-format/mbox.js';
import { amount } from '../support/amounts.js';
import test from '../support/test.js';

const DATE = Date.UTC(2001, 1, 3, 4, 5, 6);

async function read(content: Buffer | string): Promise<SourceItem[]> {
  const file = join(temporaryDirectory('mansio-mbox-'), 'mbox');
  writeFileSync(file, content);
  const source = await mboxSource(file, 'INBOX');
  const items: SourceItem[] = [];
  for await (const item of source.items()) items.push(item);
  return items;
}

const texts = (items: readonly SourceItem[]) =>
  items.map((item) => (item.kind === 'message' ? Buffer.from(item.bytes).toString('latin1') : item));

test('what the mboxrd writer writes is read as it was', async (t) => {
  const messages = [
    'Subject: a\r\n\r\nFrom me\r\n>From you\r\n>>From us\r\n\r\n',
    'Subject: b\r\n\r\n',
    'Subject: c\r\n\r\nFrom a Sat Feb  3 04:05:06 2001\r\n\r\nFrom b\r\n',
    'Subject: d\r\n\r\n\xe4\xf6\u0000\rx\r\n.\r\n',
  ];
  const pieces = messages.flatMap((text) => {
    const quoter = new MboxQuoter();
    return [fromLine('a@b.test', DATE), quoter.push(Buffer.from(text, 'latin1')), quoter.end()];
  });
  const items = await read(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
  t.deepEqual(texts(items), messages);
  t.true(items.every((item) => item.kind === 'message' && item.receivedAt === DATE));
});

test('a file is cut alike wherever its pieces end', (t) => {
  const from = 'From a@b Sat Feb  3 04:05:06 2001';
  const file = Buffer.from(
    `${from}\nA: 1\n\nFrom nobody\n\nFrom x\n${from}\n${from}\n\n${from}\r\nB: 2\r\n\r\nfrom\nFro\nFrom\nFrom \n\n${from}\nC: 3\n\nlast`,
  );
  const split = (pieces: readonly Buffer[]) => {
    const splitter = new MboxSplitter();
    const found = [...pieces.flatMap((piece) => [...splitter.push(piece)]), ...splitter.end()];
    return found.map(({ octet, bytes, date }) => [octet, bytes?.toString('latin1'), date]);
  };
  const whole = split([file]);
  const octetsOf = (text: string) => {
    const found: number[] = [];
    for (let at = file.indexOf(text); at >= 0; at = file.indexOf(text, at + 1)) found.push(at);
    return found;
  };
  t.deepEqual(
    whole.map(([octet]) => octet as number),
    octetsOf(from),
  );
  t.deepEqual(
    whole.map(([, bytes]) => bytes),
    ['A: 1\n\nFrom nobody\n\nFrom x\n', '', '', 'B: 2\r\n\r\nfrom\nFro\nFrom\nFrom \n', 'C: 3\n\nlast'],
  );
  for (let cut = 0; cut <= file.length; cut++) {
    t.deepEqual(split([file.subarray(0, cut), file.subarray(cut)]), whole, `cut at ${cut}`);
  }
  t.deepEqual(split(Array.from(file, (_, i) => file.subarray(i, i + 1))), whole, 'octet by octet');
});

test('a message that is too large is passed over, and its octets are not kept', (t) => {
  const from = 'From a@b Sat Feb  3 04:05:06 2001\n';
  const splitter = new MboxSplitter(100);
  const file = Buffer.from(`${from}${'x'.repeat(101)}\n${from}${'y'.repeat(90)}\n`);
  const found = [...splitter.push(file), ...splitter.end()];
  t.deepEqual(
    found.map(({ bytes }) => bytes?.length),
    [undefined, 91],
  );
});

test('files of elsewhere: dates of many forms, or none, CRLF, nothing at all', async (t) => {
  const dates: [string, number][] = [
    ['From a@b Sat Feb  3 04:05:06 2001', DATE],
    ['From - Sat Feb 03 04:05:06 2001', DATE],
    ['From "a b"@c Sat Feb  3 04:05:06 CET 2001', DATE - 3_600_000],
    ['From 123@xxx Sat Feb 03 04:05:06 +0130 2001', DATE - 5_400_000],
    ['From a@b Sat Feb  3 04:05 2001 -0500', DATE - 6_000 + 5 * 3_600_000],
    ['From a@b Sat Feb  3 04:05:06 2001\r', DATE],
  ];
  for (const [line, date] of dates) t.is(fromLineDate(line), date, line);
  t.is(fromLineDate('From a@b Sat Abc  3 04:05:06 2001'), undefined);
  t.is(fromLineDate('From here on it is Sat'), undefined);
  t.deepEqual(texts(await read('From a@b\nA: 1\n\nx\n\nFrom b@c\nB: 2\n\ny\n')), [
    'A: 1\r\n\r\nx\r\n',
    'B: 2\r\n\r\ny\r\n',
  ]);
  t.deepEqual(texts(await read('From a Sat Feb  3 04:05:06 2001\r\nA: 1\r\n\r\n>From x\n\r\n')), [
    'A: 1\r\n\r\nFrom x\n',
  ]);
  t.deepEqual(await read(''), []);
  await t.throwsAsync(read('Subject: a\n\nno mailbox file\n'), { instanceOf: NotMbox });
  await t.throwsAsync(read('no line feed'), { instanceOf: NotMbox });
  const [empty, other] = await read(`From a Sat Feb  3 04:05:06 2001\n\nFrom b Sat Feb  3 04:05:06 2001\nA: 1\n\n`);
  t.deepEqual(empty, { kind: 'failure', where: 'message 1 at octet 0', problem: 'empty' });
  t.is(other?.kind, 'message');
});

test('flags are read of the fields that mail programs keep in a mailbox file', (t) => {
  const flags = (header: string) => headerFlags(Buffer.from(`Subject: a\n${header}\n\nStatus: R\n`));
  t.deepEqual(flags('X-Other: R'), []);
  t.deepEqual(flags('Status: RO\nX-Status: AFT'), ['\\Seen', '\\Answered', '\\Flagged', '\\Draft']);
  t.deepEqual(flags('status: O\r\nX-Keywords: Work,  $Forwarded\r\n Old'), ['Work', '$Forwarded', 'Old']);
  t.deepEqual(flags('X-Mozilla-Status: 1005\nX-Mozilla-Keys: $label1 '), [
    '\\Seen',
    '\\Flagged',
    '$Forwarded',
    '$label1',
  ]);
  t.deepEqual(flags('X-Mozilla-Status: none'), []);
  t.deepEqual(flags('X-Status: D'), ['\\Deleted']);
});

test('a large message of line feeds or quoted lines alone takes no more than its octets', async (t) => {
  const head = 'From a Sat Feb  3 04:05:06 2001\n';
  const count = amount(30_000_000, 130_000_000);
  const [feeds] = await read(Buffer.concat([Buffer.from(head), Buffer.alloc(count, '\n')]));
  t.is(feeds?.kind === 'message' ? feeds.bytes.length : 0, 2 * (count - 1));
  const lines = '>From \n>>From x>From y\n';
  const [quoted] = await read(head + lines.repeat(1000));
  const expected = 'From \r\n>From x>From y\r\n'.repeat(1000);
  t.true(quoted?.kind === 'message' && Buffer.from(quoted.bytes).equals(Buffer.from(expected)));
});
