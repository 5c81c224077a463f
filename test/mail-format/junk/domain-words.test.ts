// Tests the common base of a domain: a new account finds junk with it, and no account alone says what is junk for the others.
import fc from 'fast-check';
import { generatedMail } from '../../../dev/junk-mail.js';
import { domainWords, FEWEST_TEACHERS } from '../../../src/mail-format/junk/domain-words.js';
import { junkCut } from '../../../src/mail-format/junk/junk-cut.js';
import { tokensOfMessage } from '../../../src/mail-format/junk/junk-tokens.js';
import { learnMessage, looksLikeJunk } from '../../../src/mail-format/junk/junk-verdict.js';
import { JunkWords, MOST_WORDS } from '../../../src/mail-format/junk/junk-words.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const noYield = async () => undefined;

function tokensOf(message: Buffer): Uint32Array {
  const index = indexMessage(message);
  return tokensOfMessage(index, junkCut(index), message);
}

/** The stored words of an account that has learnt this many generated messages of each kind. */
function taught(seed: number, count: number): Uint8Array {
  const words = new JunkWords();
  for (const { message, isJunk } of generatedMail(seed, count)) learnMessage(tokensOf(message), isJunk, words);
  return words.stored();
}

function found(base: JunkWords, own?: JunkWords) {
  const counts = { junk: 0, ham: 0 };
  for (const { message, isJunk } of generatedMail(99, 300))
    if (looksLikeJunk(tokensOf(message), { own, base })) counts[isJunk ? 'junk' : 'ham']++;
  return counts;
}

test('an account that has taught nothing finds junk by what others of its domain have taught', async (t) => {
  const others = Array.from({ length: 10 }, (_, i) => taught(1 + i, 100));
  t.is(await domainWords(others.slice(0, FEWEST_TEACHERS - 1), noYield), undefined, 'two accounts are too few');
  t.is(
    await domainWords(
      [1, 2, 3].map((seed) => taught(seed, 20)),
      noYield,
    ),
    undefined,
    'they have taught too little',
  );
  const base = (await domainWords(others, noYield))!;
  const { junk, ham } = found(base);
  t.true(junk >= 60, `${junk} of 300 junk messages are found`);
  t.is(ham, 0);
  // What cannot be read teaches nothing, and fails nothing.
  const broken = [...others, Buffer.of(), Buffer.of(9, 9, 9), others[0]!.subarray(0, 500)];
  t.deepEqual(found((await domainWords(broken, noYield))!).ham, 0);
});

test('one account that teaches 1,000 lessons puts no other mail of another account into Junk', async (t) => {
  const others = [1, 2, 3, 4].map((seed) => taught(seed, 100));
  // It calls the other mail of everybody junk, and junk the contrary, again and again.
  const attacker = new JunkWords();
  for (const { message, isJunk } of generatedMail(50, 1_000)) learnMessage(tokensOf(message), !isJunk, attacker);
  const before = found((await domainWords(others, noYield))!);
  const base = (await domainWords([...others, attacker.stored()], noYield))!;
  t.true(before.junk > 0);
  t.is(found(base).ham, 0);
  // The words that only the attacker calls junk: nobody sees them as junk.
  const target = Uint32Array.from({ length: 200 }, (_, i) => 1_000_000 + i);
  const victim = new JunkWords();
  for (let n = 0; n < 60; n++) victim.learn(target, false);
  for (let n = 0; n < 1_000; n++) attacker.learn(target, true);
  const withTarget = (await domainWords([...others, victim.stored(), attacker.stored()], noYield))!;
  t.false(looksLikeJunk(target, { own: undefined, base: withTarget }));
  // With a second account on its side, the others' mail of the same words still counts.
  const helped = (await domainWords([...others, victim.stored(), attacker.stored(), attacker.stored()], noYield))!;
  t.false(looksLikeJunk(target, { own: undefined, base: helped }));
});

const lessons = fc.array(
  fc.record({ tokens: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 15 }), isJunk: fc.boolean() }),
  { minLength: 80, maxLength: 160 },
);
const account = lessons.map((all) => {
  const words = new JunkWords();
  for (const { tokens, isJunk } of all) words.learn(Uint32Array.from(tokens), isJunk);
  return words;
});

/** The share of an account's messages in which a token occurs. */
const shareOf = (words: JunkWords, token: number): number => {
  const place = words.placeOf(token);
  return place < 0 ? 0 : words.junkAt(place) / Math.max(40, words.junk);
};

test('whatever one account teaches, a word looks like junk at most as far as the others have taught it', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(account, { minLength: 3, maxLength: 5 }), account, async (others, one) => {
      const base = await domainWords(
        [...others, one].map((words) => words.stored()),
        noYield,
      );
      if (base === undefined) return;
      const weight = [...others, one].reduce((sum, { junk }) => sum + Math.min(1, junk / 40), 0) - 1;
      for (const token of base.known()) {
        const knowing = [...others, one].filter((words) => words.known().includes(token));
        t.true(knowing.length >= FEWEST_TEACHERS, 'a word of fewer accounts is not in the base');
        const byOthers = others.reduce((sum, words) => sum + shareOf(words, token), 0) / weight;
        t.true(base.junkAt(base.placeOf(token)) / base.junk <= byOthers + 1e-4);
      }
    }),
    { numRuns: runs(50) },
  );
});

test('a base has a bound, and the words that most accounts know stay', async (t) => {
  const often = Uint32Array.from({ length: 100 }, (_, i) => 1 + i * 40_000_000);
  const accounts = Array.from({ length: 9 }, (_, n) => {
    const words = new JunkWords();
    // Each third of the accounts has words of its own.
    const first = 1_000 + Math.floor(n / 3) * 1_000_000;
    for (let i = 0; i < 40; i++) {
      words.learn(often, true);
      words.learn(
        Uint32Array.from({ length: 1_000 }, (_, j) => first + i * 1_000 + j),
        false,
      );
    }
    return words.stored();
  });
  let yields = 0;
  const base = (await domainWords(accounts, async () => void yields++))!;
  t.is(base.known().length, MOST_WORDS);
  for (const token of often) t.true(base.placeOf(token) >= 0);
  t.true(yields >= 100, 'others get their turns meanwhile');
  t.deepEqual(JunkWords.from(base.stored()).stored(), base.stored());
});
