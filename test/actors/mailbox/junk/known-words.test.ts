// Tests the words of accounts and domains that a node remembers: they are read together and once, and what is learnt here counts at once.
import pino from 'pino';
import { KnownWords } from '../../../../src/actors/mailbox/junk/known-words.js';
import { FEWEST_LEARNT } from '../../../../src/mail-format/junk/junk-verdict.js';
import { JunkWords } from '../../../../src/mail-format/junk/junk-words.js';
import test from '../../../support/test.js';

const log = pino({ level: 'silent' });

function learnt(count: number): Uint8Array {
  const words = new JunkWords();
  for (let n = 0; n < count; n++) {
    words.learn(Uint32Array.of(7), true);
    words.learn(Uint32Array.of(8), false);
  }
  return words.stored();
}

function setUp(bases: Record<string, Uint8Array> = { 'd.test': learnt(1) }) {
  const reads: string[] = [];
  const accounts: Record<string, { words: Uint8Array | null; domain: string | null }> = {
    new: { words: null, domain: 'd.test' },
    taught: { words: learnt(FEWEST_LEARNT), domain: 'other.test' },
    beginner: { words: learnt(3), domain: 'other.test' },
    unclaimed: { words: null, domain: null },
  };
  const found = <T>(all: Record<string, T>, keys: readonly string[]) =>
    new Map(keys.flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]] as const])));
  const known = new KnownWords(
    {
      async words(ids) {
        reads.push(`words ${ids.join()}`);
        return found(accounts, ids);
      },
      async bases(domains) {
        reads.push(`bases ${domains.join()}`);
        return found(bases, domains);
      },
    },
    log,
  );
  return { known, reads };
}

test('accounts and domains are read together, and once', async (t) => {
  const { known, reads } = setUp();
  const ids = ['new', 'taught', 'beginner', 'unclaimed', 'gone'];
  const [first, ...others] = await Promise.all(ids.map((id) => known.of(id)));
  t.is(first?.own, undefined);
  t.is(first?.base?.junk, 1, 'a new account judges by the base of its domain');
  t.is(others[0]?.own?.junk, FEWEST_LEARNT);
  t.is(others[0]?.base, undefined);
  t.deepEqual(others.slice(1), [undefined, undefined, undefined], 'what is too little judges nothing');
  t.deepEqual(reads, [`words ${ids.join()}`, 'bases d.test,other.test']);
  for (const [i, id] of ids.entries()) {
    const again = known.of(id);
    t.false(again instanceof Promise, id);
    t.is(again === undefined, i > 1);
  }
  t.is(reads.length, 2);
});

test('what is learnt here counts at once, with the base', async (t) => {
  const { known } = setUp();
  await known.of('new');
  known.put('new', learnt(5));
  const words = await known.of('new');
  t.is(words?.own?.junk, 5);
  t.is(words?.base?.junk, 1);
});

test('a base that cannot be read is none', async (t) => {
  const { known } = setUp({ 'd.test': Buffer.of(9, 9), 'other.test': Buffer.of(1) });
  t.is(await known.of('new'), undefined);
  const taught = await known.of('taught');
  t.is(taught?.own?.junk, FEWEST_LEARNT);
  t.is(taught?.base, undefined);
});
