// Tests messages in chunks (RFC 3030): a message arrives as it was sent, however it is cut; no octet of a chunk is a command; a
// refused chunk is still read, so that the next command is found.

import fc from 'fast-check';
import { runs } from '../../support/amounts.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { listen } from './listener.js';
import { listenForSubmission, signedIn } from './submission-listener.js';

const HEADER = 'From: alice@example.test\r\nSubject: chunks\r\n\r\n';
const brief = ({ code, text }: { readonly code: number; readonly text: string }) => `${code} ${text.split(' ')[0]}`;
const rest = async (client: SmtpClient) => (await client.rest()).map(brief);

/** Returns the commands that carry `pieces`, the last one with LAST. */
const chunks = (...pieces: readonly string[]) =>
  pieces
    .map((piece, i) => `BDAT ${Buffer.byteLength(piece)}${i === pieces.length - 1 ? ' LAST' : ''}\r\n${piece}`)
    .join('');

async function ready(address: string): Promise<SmtpClient> {
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<a@peer.test>');
  await client.command('RCPT TO:<alice@example.test>');
  return client;
}

test('it is announced at MX and submission, without BINARYMIME', async (t) => {
  for (const { address } of [await listen(t), await listenForSubmission(t)]) {
    const client = await SmtpClient.connect(address);
    await client.reply();
    const { lines } = await client.command('EHLO client.test');
    t.true(lines.includes('CHUNKING'));
    t.false(lines.includes('BINARYMIME'));
    client.end();
  }
  const { address } = await listen(t);
  const client = await SmtpClient.greeted(address);
  t.is((await client.command('MAIL FROM:<a@peer.test> BODY=BINARYMIME')).code, 501);
});

test('a message arrives whole, whatever its chunks and segments are, and each chunk has a reply', async (t) => {
  const { address, stored } = await listen(t);
  const line = fc.constantFrom('.', '..', 'text', '', 'QUIT', 'RSET', 'BDAT 3 LAST', 'Grüße', '.\0.');
  const texts = fc.array(line, { maxLength: 12 }).map((lines) => lines.map((each) => `${each}\r\n`).join(''));
  const cuts = fc.array(fc.nat(200), { maxLength: 6 });
  const pieces = (text: Buffer, at: readonly number[]) => {
    const places = [0, ...at.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
    return places.slice(1).map((place, i) => text.subarray(places[i], place));
  };
  await fc.assert(
    fc.asyncProperty(texts, cuts, cuts, async (text, cut, segments) => {
      stored.length = 0;
      const client = await ready(address);
      const cutUp = pieces(Buffer.from(`${HEADER}${text}`), cut);
      const octets = cutUp.flatMap((piece, i) => [
        Buffer.from(`BDAT ${piece.length}${i === cutUp.length - 1 ? ' LAST' : ''}\r\n`),
        piece,
      ]);
      await client.segments(pieces(Buffer.concat([...octets, Buffer.from('QUIT\r\n')]), segments));
      t.deepEqual(await rest(client), [...cutUp.map(() => '250 2.0.0'), '221 2.0.0']);
      t.deepEqual(
        stored.map(({ body }) => body),
        [Buffer.from(`${HEADER}${text}`).toString('latin1')],
      );
    }),
    { numRuns: runs(60) },
  );
});

test('a bare CR or LF is refused, wherever chunks are cut; a line end that is cut is one', async (t) => {
  const { address, stored } = await listen(t);
  for (const [bodies, reply] of [
    [['a\r', '\nb\r\n'], '250 2.0.0'],
    [['a\nb\r\n'], '550 5.6.0'],
    [['a', '\nb\r\n'], '550 5.6.0'],
    [['a\rb\r\n'], '550 5.6.0'],
    [['a\r', 'b\r\n'], '550 5.6.0'],
    [['a\r\r\n'], '550 5.6.0'],
    [['a\n\r\n'], '550 5.6.0'],
    [['a\r'], '550 5.6.0'],
    [['a\r', ''], '550 5.6.0'],
  ] as const) {
    stored.length = 0;
    const client = await ready(address);
    client.write(`${chunks(HEADER, ...bodies)}QUIT\r\n`);
    t.deepEqual((await rest(client)).slice(-2), [reply, '221 2.0.0'], JSON.stringify(bodies));
    t.is(stored.length, reply.startsWith('2') ? 1 : 0);
  }
});

test('a last line without its end gets one', async (t) => {
  const { address, stored } = await listen(t);
  const client = await ready(address);
  client.write(chunks(HEADER, 'no end'));
  t.deepEqual([brief(await client.reply()), brief(await client.reply())], ['250 2.0.0', '250 2.0.0']);
  t.is(stored[0]!.body, `${HEADER}no end\r\n`);
});

test('octets of a chunk are no commands, also of a chunk that is refused', async (t) => {
  const { address, stored } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const smuggled = 'RSET\r\nMAIL FROM:<evil@peer.test>\r\nRCPT TO:<alice@example.test>\r\nDATA\r\n';
  client.write(`BDAT ${smuggled.length} LAST\r\n${smuggled}BDAT 0\r\nBDAT 0 LAST\r\nNOOP\r\n`);
  for (const reply of ['503 5.5.1', '503 5.5.1', '503 5.5.1', '250 2.0.0']) t.is(brief(await client.reply()), reply);
  await client.command('MAIL FROM:<a@peer.test>');
  await client.command('RCPT TO:<alice@example.test>');
  client.write(chunks(HEADER, smuggled));
  t.deepEqual([brief(await client.reply()), brief(await client.reply())], ['250 2.0.0', '250 2.0.0']);
  t.deepEqual(
    stored.map(({ body }) => body),
    [`${HEADER}${smuggled}`],
  );
  for (const bad of ['BDAT', 'BDAT x', 'BDAT -1', 'BDAT 5 FIRST', 'BDAT 99999999999999', 'BDAT 1e3 LAST']) {
    const other = await ready(address);
    other.write(`${bad}\r\nRSET\r\nMAIL FROM:<evil@peer.test>\r\n`);
    t.regex((await rest(other)).join(), /^(?:501 5\.5\.4|552 5\.3\.4)$/, bad);
  }
});

test('the last chunk may be empty, and its reply comes before those to what follows', async (t) => {
  const { address, stored } = await listen(t);
  const client = await ready(address);
  client.write(`BDAT ${HEADER.length}\r\n${HEADER}BDAT 0 LAST\r\nQUIT\r\n`);
  t.deepEqual(await rest(client), ['250 2.0.0', '250 2.0.0', '221 2.0.0']);
  t.is(stored.length, 1);
});

test('between two chunks a message can be given up, and nothing else be begun', async (t) => {
  const { address, stored } = await listen(t);
  const client = await ready(address);
  client.write(`BDAT ${HEADER.length}\r\n${HEADER}`);
  t.is((await client.reply()).code, 250);
  for (const command of ['DATA', 'MAIL FROM:<b@peer.test>', 'RCPT TO:<bob@example.test>', 'STARTTLS'])
    t.is(brief(await client.command(command)), '503 5.5.1', command);
  t.is((await client.command('NOOP')).code, 250);
  for (const command of ['RSET', 'EHLO client.test']) {
    t.is((await client.command(command)).code, 250);
    await client.command('MAIL FROM:<a@peer.test>');
    await client.command('RCPT TO:<alice@example.test>');
    client.write(chunks('Subject: again\r\n\r\n', 'whole\r\n'));
    t.deepEqual([(await client.reply()).code, (await client.reply()).code], [250, 250]);
    t.deepEqual(
      stored.splice(0).map(({ body }) => body),
      ['Subject: again\r\n\r\nwhole\r\n'],
    );
    await client.command('MAIL FROM:<a@peer.test>');
    await client.command('RCPT TO:<alice@example.test>');
    client.write('BDAT 3\r\nabc');
    t.is((await client.reply()).code, 250);
  }
  client.destroy();
  const next = await ready(address);
  next.write(chunks(HEADER));
  await next.reply();
  t.is(stored.length, 1, 'nothing is kept of a message that was cut off');
});

test('a message in chunks has the limits of any other', async (t) => {
  const { address } = await listen(t, { maxMessageSize: 10_000 });
  const client = await ready(address);
  client.write(chunks(HEADER, ...Array.from({ length: 4 }, () => `${'x'.repeat(2_998)}\r\n`)));
  const replies = [];
  for (let i = 0; i < 5; i++) replies.push(brief(await client.reply()));
  t.deepEqual(replies, ['250 2.0.0', '250 2.0.0', '250 2.0.0', '250 2.0.0', '552 5.3.4']);
  const impatient = await listen(t, { limits: { idleMs: 1_500 } });
  const silent = await SmtpClient.connect(impatient.address);
  await silent.reply();
  // The commands come together: a busy machine must not be too slow for the time between them.
  const envelope = 'HELO c.test\r\nMAIL FROM:<a@peer.test>\r\nRCPT TO:<alice@example.test>\r\n';
  silent.write(`${envelope}BDAT ${HEADER.length}\r\n${HEADER}`);
  const told = (await silent.rest()).map(({ code }) => code);
  t.deepEqual(told, [250, 250, 250, 250, 421], 'who sends no next chunk is not waited for');
});

test('submission takes chunks from who has logged in', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const stranger = await SmtpClient.greeted(address);
  stranger.write('BDAT 6 LAST\r\nQUIT\r\nNOOP\r\n');
  t.deepEqual([brief(await stranger.reply()), (await stranger.reply()).code], ['530 5.7.0', 250]);
  const client = await signedIn(address);
  await client.command('MAIL FROM:<alice@example.test>');
  await client.command('RCPT TO:<bob@example.test>');
  const message = `${HEADER}Message-Id: <x@y.test>\r\n`;
  client.write(chunks(HEADER.slice(0, 20), HEADER.slice(20), 'hello\r\n'));
  for (let i = 0; i < 3; i++) t.is((await client.reply()).code, 250, message);
  t.true(queued[0]!.text.endsWith('\r\n\r\nhello\r\n'));
});
