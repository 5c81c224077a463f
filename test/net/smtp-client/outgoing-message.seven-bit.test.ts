// Tests messages with 8-bit octets for a server without 8BITMIME: they are converted before they are signed, and Python's parser
// reads them back.
import { createHash } from 'node:crypto';
import { pythonParts } from '../../support/python-parts.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { only, world } from './client-world.js';

const ZONES = { 'remote.test': { A: ['127.0.0.2'] } };
const HEADER = 'From: Zoe <a@sender.test>\r\nSubject: hi\r\nMIME-Version: 1.0\r\n';
const OLD = { hidden: ['8BITMIME', 'SMTPUTF8'] } as const;

const hashOf = (octets: Uint8Array | string) => createHash('sha256').update(octets).digest('hex');

/** The signature is a hash of the signed octets. */
const options = {
  zones: ZONES,
  sign: async (_: string, open: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => {
    const hash = createHash('sha256');
    for await (const piece of open()) hash.update(piece);
    return `X-Signed: ${hash.digest('hex')}\r\n`;
  },
};

function isSignedAsSent(octets: Buffer): boolean {
  const end = octets.indexOf('\r\n') + 2;
  return octets.toString('latin1', 0, end) === `X-Signed: ${hashOf(octets.subarray(end))}\r\n`;
}

testWith('python3')('a text is converted and signed as it is sent, small and large', async (t) => {
  const { deliver, remote, texts } = await world(t, options);
  const mx = await remote('127.0.0.2', OLD);
  const header = `${HEADER}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`;
  for (const body of [
    'grün is a word among others here\r\n.dot\r\n',
    'Жёлтый\r\n',
    'grün is rare among others\r\n'.repeat(20_000),
  ]) {
    t.is(only(await deliver('remote.test', ['b'], header + body)), 'delivered 2.0.0');
    const { text, parameters } = mx.messages.at(-1)!;
    const octets = Buffer.from(text);
    t.regex(octets.toString('latin1'), /^[\r\n\t -~]*$/);
    t.is(parameters['BODY'], undefined);
    t.true(isSignedAsSent(octets));
    const [part] = pythonParts(octets);
    t.is(Buffer.from(part!.content, 'base64').toString(), body);
    t.is(part!.encoding, body.startsWith('Ж') ? 'base64' : 'quoted-printable');
    t.is(texts.get(hashOf(header + body))!.toString(), header + body);
  }
});

testWith('python3')('nested parts are converted, those in 7 bits stay', async (t) => {
  const { deliver, remote } = await world(t, options);
  const mx = await remote('127.0.0.2', OLD);
  const part = (fields: string, content: string) => `--b\r\n${fields}\r\n${content}\r\n`;
  const untouched = part('Content-Type: text/plain\r\n', 'plain');
  const inner = `From: x@y.test\r\nSubject: grün\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\ninnen grün, but mostly ASCII`;
  const message = [
    `${HEADER}Content-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: 8bit\r\n\r\nVorwort für alte Programme\r\n`,
    untouched,
    part('Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n', '<p>grün and more of it</p>'),
    part('Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary\r\n', 'ü\tü'),
    part('Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 8bit\r\n', inner),
    part('Content-Type: text/plain; name="grün.txt"\r\nContent-Transfer-Encoding: 8bit\r\n', 'ascii'),
    '--b--\r\n',
  ].join('');
  t.is(only(await deliver('remote.test', ['b'], message)), 'delivered 2.0.0');
  const octets = Buffer.from(mx.messages[0]!.text);
  const text = octets.toString('latin1');
  t.regex(text, /^[\r\n\t -~]*$/);
  t.notRegex(text, /^content-transfer-encoding: (?:8bit|binary)/im);
  t.true(text.includes(untouched) && text.includes('\r\nVorwort f??r alte Programme\r\n'));
  t.true(text.includes(`name*=utf-8''gr%C3%BCn.txt`) && text.includes('Subject: =?utf-8?B?'));
  t.true(isSignedAsSent(octets));
  const contents = (of: Buffer) => pythonParts(of).map(({ content }) => content);
  t.deepEqual(contents(octets), contents(Buffer.from(message)));
  t.deepEqual(
    pythonParts(octets).map(({ encoding }) => encoding),
    ['None', 'quoted-printable', 'base64', 'quoted-printable', '7bit'],
  );
});

test('a signed part fails with the reason, unless it is in 7 bits', async (t) => {
  const { deliver, remote } = await world(t, options);
  const mx = await remote('127.0.0.2', OLD);
  const signed = (text: string) =>
    `${HEADER}Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n` +
    `Content-Transfer-Encoding: 8bit\r\n\r\n${text}\r\n--b\r\nContent-Type: application/pgp-signature\r\n\r\nxyz\r\n--b--\r\n`;
  const report = await deliver('remote.test', ['b'], signed('grün'));
  t.is(only(report), 'permanent 5.6.3');
  t.regex(report.outcomes[0]!.text, /8BITMIME.*signed part/);
  t.is(mx.messages.length, 0);
  t.is(only(await deliver('remote.test', ['b'], signed('plain'))), 'delivered 2.0.0');
});

testWith('python3')('headers without a body and without an empty line are converted too', async (t) => {
  const { deliver, remote } = await world(t, options);
  const mx = await remote('127.0.0.2', OLD);
  const label = 'Content-Transfer-Encoding: 8bit\r\n';
  const alone = `${HEADER}${label}X-Note: grün\r\n`;
  const nested = `${HEADER}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; name="grün"\r\n${label}--b--\r\n`;
  for (const message of [alone, nested]) {
    t.is(only(await deliver('remote.test', ['b'], message)), 'delivered 2.0.0');
    const text = Buffer.from(mx.messages.at(-1)!.text).toString('latin1');
    t.regex(text, /^[\r\n\t -~]*$/);
    t.regex(text, /\r\nContent-Transfer-Encoding: 7bit\r\n(?:--b--\r\n)?$/);
    t.is(pythonParts(Buffer.from(text)).length, 1);
  }
});

test('parts of UTF-8 reports may be encoded, other parts of reports not (RFC 6532 §3.7, RFC 6533)', async (t) => {
  const { deliver, remote } = await world(t, options);
  const mx = await remote('127.0.0.2', OLD);
  const report = (type: string, encoding = '8bit') =>
    `${HEADER}Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: ${type}\r\n` +
    `Content-Transfer-Encoding: ${encoding}\r\n\r\nSubject: grün and more of it\r\n\r\n--b--\r\n`;
  for (const type of ['message/global-headers', 'message/global-delivery-status']) {
    t.is(only(await deliver('remote.test', ['b'], report(type))), 'delivered 2.0.0');
    const encoded = 'quoted-printable\r\n\r\nSubject: gr=C3=BCn and more of it\r\n\r\n--b--';
    t.true(mx.messages.at(-1)!.text.includes(encoded));
  }
  const refused = await deliver('remote.test', ['b'], report('message/delivery-status'));
  t.is(only(refused), 'permanent 5.6.3');
  t.regex(refused.outcomes[0]!.text, /must not be encoded/);
  t.is(only(await deliver('remote.test', ['b'], report('text/plain', 'x-own'))), 'permanent 5.6.3');
});

test('a raw header goes out as encoded words where the server does not know SMTPUTF8', async (t) => {
  const { deliver, remote } = await world(t, { ...options });
  const mx = await remote('127.0.0.2', OLD);
  t.is(
    only(await deliver('remote.test', ['b'], 'From: Zoë <a@sender.test>\r\nSubject: grün\r\n\r\nx\r\n')),
    'delivered 2.0.0',
  );
  const text = Buffer.from(mx.messages[0]!.text).toString();
  t.true(text.includes('From: =?utf-8?B?Wm/Dqw==?= <a@sender.test>\r\nSubject: =?utf-8?B?Z3LDvG4=?=\r\n'));
  t.is(mx.messages[0]!.parameters['SMTPUTF8'], undefined);
  t.is(
    only(await deliver('remote.test', ['b'], 'From: zoë@sender.test\r\nSubject: x\r\n\r\nx\r\n')),
    'permanent 5.6.7',
  );
});
