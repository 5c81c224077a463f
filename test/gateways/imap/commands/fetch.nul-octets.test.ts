// Tests messages with NUL octets, which SMTP and imports bring: only a literal8 may contain one (RFC 9051 §9).
import test from '../../../support/test.js';
import { ALICE, startImap } from '../gateway.js';

const header = 'From: a@example.test\r\nSubject: n\0ul\r\n\r\n';

for (const [what, body] of [
  ['a small message', 'a\0\0b\r\n'],
  ['a message that is streamed', `${'x'.repeat(400_000)}\0${'y'.repeat(400_000)}\0\r\n`],
] as const) {
  test(`BODY has 0x80 in the place of NUL, and BINARY has NUL: ${what}`, async (t) => {
    const gateway = await startImap(t);
    await gateway.deliver(ALICE, header + body);
    const client = await gateway.open();
    await client.command('SELECT INBOX');
    const [headerView, shownBody] = [header, body].map((text) => text.replaceAll('\0', '\x80')) as [string, string];
    const shown = async (attribute: string) => (await client.command(`FETCH 1 ${attribute}`)).untagged[0]!;
    const literal = (text: string) => `{${text.length}}\r\n${text}`;
    t.is(await shown('BODY.PEEK[]'), `1 FETCH (BODY[] ${literal(headerView + shownBody)})`);
    t.is(await shown('BODY.PEEK[TEXT]'), `1 FETCH (BODY[TEXT] ${literal(shownBody)})`);
    t.is(await shown('BODY.PEEK[1]<1.3>'), `1 FETCH (BODY[1]<1> ${literal(shownBody.slice(1, 4))})`);
    t.is(await shown('RFC822.HEADER'), `1 FETCH (RFC822.HEADER ${literal(headerView)})`);
    t.is(
      await shown('BODY.PEEK[HEADER.FIELDS (SUBJECT)]'),
      `1 FETCH (BODY[HEADER.FIELDS (SUBJECT)] ${literal('Subject: n\x80ul\r\n\r\n')})`,
    );
    t.is(await shown('RFC822.SIZE'), `1 FETCH (RFC822.SIZE ${header.length + body.length})`);
    t.is(await shown('BINARY.PEEK[1]'), `1 FETCH (BINARY[1] ~{${body.length}}\r\n${body})`);
  });
}

test('headers with NUL: of an embedded message, and a very long one', async (t) => {
  const gateway = await startImap(t);
  const inner = `Subject: in\0ner\r\n\r\nx\r\n`;
  const long = `X-Long: ${'z'.repeat(300_000)}\0\r\n`;
  await gateway.deliver(ALICE, `Content-Type: message/rfc822\r\n\r\n${inner}`);
  await gateway.deliver(ALICE, `${long}\r\nx`);
  const client = await gateway.open();
  await client.command('SELECT INBOX');
  const { untagged } = await client.command('FETCH 1 (BODY.PEEK[1.HEADER] BODY.PEEK[1.HEADER.FIELDS (SUBJECT)])');
  const shown = '{19}\r\nSubject: in\x80ner\r\n\r\n';
  t.deepEqual(untagged, [`1 FETCH (BODY[1.HEADER] ${shown} BODY[1.HEADER.FIELDS (SUBJECT)] ${shown})`]);
  const text = `${long}\r\n`.replace('\0', '\x80');
  for (const attribute of ['BODY[HEADER]', 'BODY[HEADER.FIELDS (X-LONG)]']) {
    const answer = await client.command(`FETCH 2 ${attribute.replace('BODY', 'BODY.PEEK')}`);
    t.is(answer.untagged[0], `2 FETCH (${attribute} {${text.length}}\r\n${text})`);
  }
});
