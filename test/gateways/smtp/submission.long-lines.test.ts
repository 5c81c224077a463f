// Tests submitted lines that are too long: headers are folded and parts encoded before the message is signed, or it is refused.
// Python's parser reads the content back.
import { LongLines } from '../../../src/mail-format/writing/long-lines.js';
import type { SmtpClient } from '../../support/clients/smtp-client.js';
import { pythonParts } from '../../support/python-parts.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { listenForSubmission, signedIn } from './submission-listener.js';

const HEADER = 'From: alice@example.test\r\nMessage-Id: <1@alice.test>\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\n';
const LONG = `${'long words and = signs and \xe4 \t'.repeat(200)}x`;

const longest = (text: string) => Math.max(...text.split('\r\n').map((line) => line.length));

async function send(client: SmtpClient, message: string): Promise<string> {
  await client.envelope('alice@example.test', 'carol@peer.test');
  client.write(Buffer.from(`${message}\r\n.\r\n`, 'latin1'));
  const { code, text } = await client.reply();
  return `${code} ${text.split(' ')[0]}`;
}

testWith('python3')('a body with long lines is encoded, every octet of its content stays', async (t) => {
  const { address, queued, spool } = await listenForSubmission(t);
  const client = await signedIn(address);
  const body = `short \r\n${LONG}\r\n.dot\r\n`;
  // The message has no MIME fields, and is small or in a file of the spool.
  for (const times of [1, 100]) {
    const content = body.repeat(times);
    t.is(await send(client, `${HEADER}Subject: x\r\n\r\n${content.replace(/^\./gm, '..')}`), '250 2.0.0');
    const { body: stored, summary } = queued.at(-1)!;
    t.true(longest(stored) <= 76, `${longest(stored)}`);
    t.true(
      stored.startsWith(
        `${HEADER}Subject: x\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`,
      ),
    );
    const [part] = pythonParts(Buffer.from(stored, 'latin1'));
    t.is(Buffer.from(part!.content, 'base64').toString('latin1'), `${content}\r\n`);
    t.true((summary as { size: number }).size > stored.length);
  }
  t.is(spool.memory.used, 0);
});

testWith('python3')('only parts with long lines are encoded, in the encoding that fits', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  const binary = Buffer.from(LONG.repeat(3), 'latin1').toString('base64');
  const part = (fields: string, content: string) => `--b\r\n${fields}\r\n${content}\r\n`;
  const untouched = part('Content-Type: text/plain\r\nContent-Transfer-Encoding:  8bit\r\n', 'd\xe9j\xe0 vu');
  const message = [
    `${HEADER}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\npreamble\r\n`,
    untouched,
    part('Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\nX-Kept: y\r\n', LONG),
    part('Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n', binary),
    part('Content-Type: application/json\r\n', `{"x":"${LONG}"}`),
    part('Content-Type: text/plain\r\nContent-Transfer-Encoding: Quoted-Printable\r\n', `=E4${'y'.repeat(2000)} =3D`),
    part('', LONG),
    part('Content-Type: message/rfc822\r\n', `From: x@y.test\r\nSubject: inner\r\n\r\n${LONG}`),
    '--b--\r\nepilogue',
  ].join('');
  t.is(await send(client, message), '250 2.0.0');
  const stored = queued[0]!.body;
  t.true(longest(stored) <= 76);
  t.true(stored.includes(untouched) && stored.includes('\r\npreamble\r\n') && stored.endsWith('--b--\r\nepilogue\r\n'));
  t.true(stored.includes('charset=utf-8\r\nX-Kept: y\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n'));
  const [before, after] = [pythonParts(Buffer.from(message, 'latin1')), pythonParts(Buffer.from(stored, 'latin1'))];
  t.deepEqual(
    after.map(({ content }) => content),
    before.map(({ content }) => content),
  );
  t.deepEqual(
    after.map(({ encoding }) => encoding),
    ['8bit', 'quoted-printable', 'base64', 'base64', 'quoted-printable', 'quoted-printable', 'quoted-printable'],
  );
});

test('long lines that cannot be helped are refused', async (t) => {
  const { address, queued, spool } = await listenForSubmission(t);
  const client = await signedIn(address);
  const mixed = (type: string, part: string) =>
    `${HEADER}MIME-Version: 1.0\r\nContent-Type: ${type}; boundary=b\r\n\r\n--b\r\n${part}\r\n--b--\r\n`;
  const refused = [
    `${HEADER}X: ${'x'.repeat(998)}\r\n\r\nbody`,
    mixed('multipart/signed', `X: ${'word '.repeat(300)}end\r\n\r\nx`),
    mixed('multipart/signed', `\r\n${LONG}`),
    mixed('multipart/mixed', `Content-Type: message/partial\r\n\r\n${LONG}`),
    mixed('multipart/mixed', `Content-Transfer-Encoding: x-uuencode\r\n\r\n${LONG}`),
    mixed('multipart/mixed', `X: ${'x'.repeat(998)}\r\n\r\nx`),
    `${mixed('multipart/mixed', '\r\nx')}${LONG}`,
  ];
  for (const message of refused) t.is(await send(client, message), '550 5.6.0', message.slice(0, 300));
  t.is(queued.length, 0);
  t.is(spool.memory.used, 0);
});

test('long header lines are folded, of the message and of its parts, also where bodies are encoded', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  const to = Array.from({ length: 60 }, (_, i) => `"Person ${i}" <person.${i}@peer.test>`).join(', ');
  const message =
    `${HEADER}To: ${to}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n` +
    `X-Part: ${'word '.repeat(300)}end\r\n\r\n${LONG}\r\n--b--`;
  t.is(await send(client, message), '250 2.0.0');
  const stored = queued[0]!.body;
  t.true(longest(stored) <= 78);
  const unfolded = stored.replace(/\r\n(?=[ \t])/g, '');
  t.true(unfolded.includes(`\r\nTo: ${to}\r\n`) && unfolded.includes(`\r\nX-Part: ${'word '.repeat(300)}end\r\n`));
});

test('lines of 998 octets stay as they are', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  const message = `${HEADER}X: ${'x'.repeat(995)}\r\n\r\n${'y'.repeat(998)}\r\n${'z'.repeat(998)}`;
  t.is(await send(client, message), '250 2.0.0');
  t.is(queued[0]!.body, `${message}\r\n`);
});

test('long lines are found however the message is cut', (t) => {
  const text = `${'a'.repeat(998)}\r\n${'b'.repeat(999)}\r\n\r\n${'c'.repeat(3000)}`;
  for (const size of [1, 7, 999, 1000, 10_000]) {
    const lines = new LongLines();
    for (let at = 0; at < text.length; at += size) lines.push(Buffer.from(text.slice(at, at + size)));
    lines.finish();
    t.deepEqual(lines.starts, [1000, 2003], `${size}`);
  }
});
