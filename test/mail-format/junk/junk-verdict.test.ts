// Tests the verdict of the junk filter on generated mail, and that no message makes it fail or take long.
import fc from 'fast-check';
import { generatedMail } from '../../../dev/junk-mail.js';
import { junkCut } from '../../../src/mail-format/junk/junk-cut.js';
import { tokensOfMessage } from '../../../src/mail-format/junk/junk-tokens.js';
import { FEWEST_LEARNT, learnMessage, looksLikeJunk } from '../../../src/mail-format/junk/junk-verdict.js';
import { JunkWords } from '../../../src/mail-format/junk/junk-words.js';
import { MOST_TOKENS } from '../../../src/mail-format/junk/token-set.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

function tokensOf(message: Buffer): Uint32Array {
  const index = indexMessage(message);
  return tokensOfMessage(index, junkCut(index), message);
}

test('nothing is junk before enough of both kinds is learnt; after 200 of each most junk is found, and hardly any other mail', (t) => {
  const words = new JunkWords();
  const [letter, junk] = [...generatedMail(9, 1)].map(({ message }) => tokensOf(message));
  for (let i = 0; i < FEWEST_LEARNT; i++) words.learn(junk!, true);
  for (let i = 1; i < FEWEST_LEARNT; i++) words.learn(letter!, false);
  t.false(looksLikeJunk(junk!, { own: words, base: undefined }));
  words.learn(letter!, false);
  t.true(looksLikeJunk(junk!, { own: words, base: undefined }));
  t.false(looksLikeJunk(letter!, { own: words, base: undefined }));

  const learnt = new JunkWords();
  for (const { message, isJunk } of generatedMail(1, 200)) learnMessage(tokensOf(message), isJunk, learnt);
  const found = { junk: 0, ham: 0 };
  for (const { message, isJunk } of generatedMail(2, 500))
    if (looksLikeJunk(tokensOf(message), { own: learnt, base: undefined })) found[isJunk ? 'junk' : 'ham']++;
  t.true(found.junk >= 300, `${found.junk} of 500 junk messages are found`);
  t.true(found.ham <= 1, `${found.ham} of 500 other messages are taken for junk`);
});

test('words have the name of their field, and a text in base64 has the words of its content', (t) => {
  const of = (header: string, body = 'hello') => new Set(tokensOf(Buffer.from(`${header}\r\n\r\n${body}\r\n`)));
  const added = (a: Set<number>, b: Set<number>) => [...b].filter((token) => !a.has(token));
  const subject = of('Subject: lottery\r\nFrom: a@b.test');
  const from = of('Subject: hello\r\nFrom: lottery@b.test');
  const text = of('Subject: hello\r\nFrom: a@b.test', 'lottery');
  t.true(added(subject, from).length > 0 && added(from, subject).length > 0);
  t.true(added(subject, text).length > 0);
  const plain = of('Content-Type: text/plain', 'cheap lottery tickets');
  const encoded = of(
    'Content-Type: text/plain\r\nContent-Transfer-Encoding: base64',
    Buffer.from('cheap lottery tickets').toString('base64'),
  );
  // Words and pairs of the text.
  t.true([...plain].filter((token) => encoded.has(token)).length >= 5);
});

test('any octets have tokens, and at most so many', (t) => {
  const piece = fc.oneof(
    fc.constantFrom('<a href="', '<', '>', '\r\n', '\r\n\r\n', ': ', 'Subject: ', '=', 'a'.repeat(5_000), '\0', '\xff'),
    fc.string({ maxLength: 40 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const tokens = tokensOf(Buffer.from(`Content-Type: text/html\r\n${pieces.join('')}`, 'latin1'));
      t.true(tokens.length <= MOST_TOKENS);
      t.is(new Set(tokens).size, tokens.length);
      t.false(tokens.includes(0));
    }),
    { numRuns: runs(200) },
  );
});
