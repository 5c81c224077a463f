// Tests how a text becomes recipients: lists as people paste them, and texts that are no address.
import fc from 'fast-check';
import { addressKey, isAddress, mailboxKey, personText } from '../../../web/src/compose/address.js';
import { merged, parseRecipients } from '../../../web/src/compose/recipients.js';
import test from '../../support/test.js';

const read = (text: string) =>
  parseRecipients(text).map(({ name, address, isValid }) => (isValid ? [name, address] : address));

test('lists are read as mail programs, spreadsheets and people write them', (t) => {
  for (const [text, ...expected] of [
    [''],
    [' ,; ,'],
    ['ann@a.test', ['', 'ann@a.test']],
    ['ann@a.test, bob@b.test;\nzoe@c.test', ['', 'ann@a.test'], ['', 'bob@b.test'], ['', 'zoe@c.test']],
    ['ann@a.test bob@b.test\tzoe@c.test', ['', 'ann@a.test'], ['', 'bob@b.test'], ['', 'zoe@c.test']],
    ['Zoë 💌 <zoe@a.test>', ['Zoë 💌', 'zoe@a.test']],
    ['"Doe, John; Jr." <john@a.test>, Ann <ann@a.test>', ['Doe, John; Jr.', 'john@a.test'], ['Ann', 'ann@a.test']],
    ['Doe, John <john@a.test>; Roe, Ann <ann@a.test>', ['Doe, John', 'john@a.test'], ['Roe, Ann', 'ann@a.test']],
    ['"Say \\"hi\\"" <hi@a.test>', ['Say "hi"', 'hi@a.test']],
    ["'Ann' <'ann@a.test'>", ['Ann', 'ann@a.test']],
    ['<ann@a.test>', ['', 'ann@a.test']],
    ['ann@a.test (Ann, of course)', ['Ann, of course', 'ann@a.test']],
    ['mailto:ann@a.test?subject=Hi', ['', 'ann@a.test']],
    [
      'Friends: Ann <ann@a.test>, bob@b.test;, zoe@c.test',
      ['Ann', 'ann@a.test'],
      ['', 'bob@b.test'],
      ['', 'zoe@c.test'],
    ],
    ['undisclosed-recipients:;'],
    ['ann@bücher.test', ['', 'ann@bücher.test']],
    ['zoë@a.test، آن <ann@مثال.إختبار>', ['', 'zoë@a.test'], ['آن', 'ann@مثال.إختبار']],
    ['user+tag@a.test', ['', 'user+tag@a.test']],
    ['"odd name"@a.test', ['', '"odd name"@a.test']],
  ] as readonly [string, ...unknown[]][]) {
    t.deepEqual(read(text), expected, text);
  }
});

test('what is no address stays visible, as it was typed', (t) => {
  for (const [text, ...expected] of [
    ['bob', 'bob'],
    ['bob, ann@a.test', 'bob', ['', 'ann@a.test']],
    ['Ann <ann@>', 'Ann <ann@>'],
    ['ann@a.test <', 'ann@a.test <'],
    ['@a.test', '@a.test'],
    ['ann@a..test', 'ann@a..test'],
    ['ann@1.2.3.4', 'ann@1.2.3.4'],
    ['an\u202en@a.test', 'an\u202en@a.test'],
  ] as readonly [string, ...unknown[]][]) {
    t.deepEqual(read(text), expected, text);
  }
});

test('an address stands once, whatever its case and script', (t) => {
  t.deepEqual(read('Ann <ann@a.test>, ANN@A.TEST, other <ann@a.test>, bob, bob'), [['Ann', 'ann@a.test'], 'bob']);
  t.is(addressKey('Ann@BÜCHER.test'), addressKey('ann@xn--bcher-kva.test'));
  t.is(mailboxKey('Ann+news@a.test'), 'ann@a.test');
  t.is(mailboxKey('"a+b"@a.test'), '"a+b"@a.test');
  const list = parseRecipients('ann@a.test');
  t.is(merged(list, parseRecipients('ANN@a.test')), list);
});

test('a person that is written is read again, and no text is lost', (t) => {
  const name = fc
    .stringMatching(/^[\p{L}\p{N} ,;"\\<>()@.:💌-]{1,40}$/u)
    .map((one) => one.trim())
    .filter((one) => one !== '');
  fc.assert(
    fc.property(name, (one) => {
      const text = personText({ name: one, address: 'ann@a.test' });
      t.deepEqual(read(text), [[one, 'ann@a.test']], text);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const { address, isValid } of parseRecipients(text)) t.is(isAddress(address), isValid);
    }),
  );
});

test('a huge text is read in a moment', (t) => {
  for (const unit of ['<', '"', 'a@b.test, ', '(', 'x:', ' '])
    t.true(parseRecipients(unit.repeat(200_000)).length < 10);
});
