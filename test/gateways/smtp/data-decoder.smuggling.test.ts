// Tests SMTP smuggling: whatever an earlier relay may have taken for the end of a message or of a line, no second message
// appears, and the message is stored as it was sent.

import fc from 'fast-check';
import { runs } from '../../support/amounts.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { listen } from './listener.js';

const HEADER = 'Subject: first\r\n\r\nfirst';
const SECOND = 'MAIL FROM:<evil@peer.test>\r\nRCPT TO:<bob@example.test>\r\nDATA\r\nSubject: second\r\n\r\nsmuggled';

/** Octets that replace the end of the first message; true: they are plain content, and the message is accepted. */
const VARIANTS: readonly [string, boolean][] = [
  ['\n.\n', false],
  ['\n.\r\n', false],
  ['\r\n.\n', false],
  ['\r.\r', false],
  ['\r.\r\n', false],
  ['\r.\n', false],
  ['\r\n.\r', false],
  ['\r\n.\r\r\n', false],
  ['\n\n.\r\n', false],
  ['\r\r\n.\n', false],
  ['\n\r.\r\n', false],
  ['\n.\r', false],
  ['\r\n.\n\r\n', false],
  ['\r\n..\n', false],
  ['\r\n\x00.\r\n', true],
  ['\x00\r\n.\x00\r\n', true],
  ['\r\n.\x00\r\n', true],
  ['\r\n..\r\n', true],
  ['\r\n. \r\n', true],
  ['\r\n\t.\r\n', true],
  ['\r\n.\x0b\r\n', true],
  ['\x85.\x85', true],
  ['.\r\n', true],
];

/** Follows RFC 5321 §4.5.2 in the plainest way. */
function unstuffed(text: string): string {
  return text.replace(/(^|\r\n)\./g, '$1');
}

type Split = (octets: Buffer) => Buffer[];
const whole: Split = (octets) => [octets];
const single: Split = (octets) => Array.from(octets, (_, i) => octets.subarray(i, i + 1));

for (const [name, split] of [
  ['in one segment', whole],
  ['byte by byte', single],
] as const) {
  test(`every variant, ${name}`, async (t) => {
    const { address, stored } = await listen(t);
    for (const [variant, good] of VARIANTS) {
      stored.length = 0;
      const client = await SmtpClient.greeted(address);
      await client.envelope('a@peer.test', 'alice@example.test');
      const message = `${HEADER}${variant}${SECOND}`;
      await client.segments(split(Buffer.from(`${message}\r\n.\r\nQUIT\r\n`, 'latin1')));
      const replies = (await client.rest()).map((r) => `${r.code} ${r.text.split(' ')[0]}`);
      t.deepEqual(replies, [good ? '250 2.0.0' : '550 5.6.0', '221 2.0.0'], JSON.stringify(variant));
      t.deepEqual(
        stored.map((s) => s.body),
        good ? [unstuffed(`${message}\r\n`)] : [],
        JSON.stringify(variant),
      );
    }
  });
}

test('a dot at the very start ends the message only as a line of its own', async (t) => {
  const { address, stored } = await listen(t);
  for (const [start, kept] of [
    ['.\r\n', ''],
    ['..\r\n.\r\n', '.\r\n'],
    ['.x\r\n.\r\n', 'x\r\n'],
  ] as const) {
    for (const split of [whole, single]) {
      const client = await SmtpClient.greeted(address);
      await client.envelope('', 'alice@example.test');
      await client.segments(split(Buffer.from(`${start}QUIT\r\n`)));
      t.deepEqual(
        (await client.rest()).map((r) => r.code),
        [250, 221],
      );
      t.is(stored.pop()?.body, kept);
    }
  }
  t.is(stored.length, 0);
});

test('random octets, cut at random: one reply, at most one message, stored exactly', async (t) => {
  const { address, stored } = await listen(t, { limits: { greetDelayMs: 0, errors: 100_000 } });
  const client = await SmtpClient.greeted(address);
  const part = fc.constantFrom(
    '\r\n',
    '\r\n',
    '\r\n',
    '.',
    '.',
    '\r',
    '\n',
    '\0',
    'x',
    '\r\n.',
    'RSET\r\n',
    'DATA\r\n',
    SECOND,
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
      fc.array(fc.nat(400), { maxLength: 12 }),
      async (text, at) => {
        // The true end follows the message once; one inside it would rightly end the message there.
        const message = `${HEADER}${text}`;
        fc.pre(!message.includes('\r\n.\r\n') && !message.endsWith('\r\n.'));
        stored.length = 0;
        await client.envelope('a@peer.test', 'alice@example.test');
        const octets = Buffer.from(`${message}\r\n.\r\n`, 'latin1');
        const places = [...new Set(at.map((n) => n % octets.length))].sort((a, b) => a - b);
        const pieces = [...places, octets.length].map((end, i, all) => octets.subarray(all[i - 1] ?? 0, end));
        await client.segments(pieces.filter((piece) => piece.length > 0));
        const reply = await client.reply();
        const noop = await client.command('NOOP');
        const malformed = /\r(?!\n)|(?<!\r)\n/.test(`${message}\r\n`);
        return (
          noop.code === 250 &&
          client.pending === 0 &&
          reply.text.startsWith(malformed ? '5.6.0 ' : '2.0.0 ') &&
          stored.length === (malformed ? 0 : 1) &&
          (malformed || stored[0]!.body === unstuffed(`${message}\r\n`))
        );
      },
    ),
    { numRuns: runs(300) },
  );
  t.pass();
});
