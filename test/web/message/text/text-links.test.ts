import fc from 'fast-check';
import { textPieces } from '../../../../web/src/message/text/text-links.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

/** Links are in brackets of their own: ⟦text → href⟧. */
const CASES = [
  ['no link', 'no link'],
  ['see https://a.test/b.', 'see ⟦https://a.test/b → https://a.test/b⟧.'],
  ['(https://a.test/b_(c))', '(⟦https://a.test/b_(c) → https://a.test/b_(c)⟧)'],
  ['<https://a.test/>, "http://b.test"', '<⟦https://a.test/ → https://a.test/⟧>, "⟦http://b.test → http://b.test/⟧"'],
  ['www.a.test/x!', '⟦www.a.test/x → https://www.a.test/x⟧!'],
  ['www.a and xhttps://a.test', 'www.a and xhttps://a.test'],
  ['ann@a.test, b@c', '⟦ann@a.test → mailto:ann@a.test⟧, b@c'],
  [
    'write to mailto:ann@a.test?subject=Hi, or mailto:',
    'write to ⟦mailto:ann@a.test?subject=Hi → mailto:ann@a.test?subject=Hi⟧, or mailto:',
  ],
  ['javascript:alert(1) data:text/html,x file:///x', 'javascript:alert(1) data:text/html,x file:///x'],
  ['https://', 'https://'],
  ['„https://a.test“', '„⟦https://a.test → https://a.test/⟧“'],
  ['https://a.test/\u202eb', '⟦https://a.test/ → https://a.test/⟧\u202eb'],
] as const;

for (const [text, expected] of CASES) {
  test(`text links: ${JSON.stringify(text)}`, (t) => {
    const pieces = textPieces(text).map((piece) => (piece.link ? `⟦${piece.text} → ${piece.link.href}⟧` : piece.text));
    t.is(pieces.join(''), expected);
  });
}

test('a name before the host of a link is left out', (t) => {
  t.is(textPieces('https://bank.test@evil.test/')[0]?.link?.href, 'https://evil.test/');
});

test('the pieces are the text', (t) => {
  const piece = fc.oneof(
    fc.constantFrom('http://', 'https://a.test', 'www.', '@', '.', '(', ')', ' ', 'a', '\n', 'a@b.test'),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (all) => {
      const text = all.join('');
      const pieces = textPieces(text);
      t.is(pieces.map((one) => one.text).join(''), text);
      for (const { link } of pieces) t.regex(link?.href ?? 'https://a', /^(?:https?:\/\/[^/@]+|mailto:.+@.+)/);
    }),
    { numRuns: runs(2000, 200) },
  );
});

test('text without spaces takes linear time', (t) => {
  for (const one of ['a', 'http://', 'www.', 'a@', 'a.', '(', 'http://a.test/(', '@', 'x@a.']) {
    t.is(
      textPieces(one.repeat(100_000))
        .map(({ text }) => text)
        .join('').length,
      one.length * 100_000,
    );
  }
});
