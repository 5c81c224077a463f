// Measures what the built-in junk filter costs a delivery: a node without the filter and one with it get the same messages in turns, because
// the speed of machines drifts. Each account has learnt enough to judge, half of it from mail like that of the load, and the domain has a
// common base.
import { generatedMail } from '../../dev/junk-mail.js';
import { junkCut } from '../../src/mail-format/junk/junk-cut.js';
import { tokensOfMessage } from '../../src/mail-format/junk/junk-tokens.js';
import { learnMessage } from '../../src/mail-format/junk/junk-verdict.js';
import { JunkWords } from '../../src/mail-format/junk/junk-words.js';
import { indexMessage } from '../../src/mail-format/mime-index/indexer.js';
import { connect, type Sql } from '../../src/store/postgres/driver/client.js';
import { cpuSeconds, difference } from '../support/cpu-time.js';
import { figure, percentile, withGoal } from '../support/figures.js';
import { type BenchNode, startBenchNode } from '../support/node.js';
import { untilSearchable } from '../support/searchable.js';
import { smtpLoad } from '../support/smtp-load.js';
import { textOf } from '../support/text.js';

const ACCOUNTS = 20;
const LESSONS = 100;
const MESSAGES = 1_500;
const WARM_TURNS = 2;
const TURNS = 6;
const SIZE = 4_096;
const TEXTS = Array.from({ length: 200 }, (_, n) => textOf(n, SIZE - 180));
const BASE_WAIT_MS = 60_000;

interface Judging {
  readonly node: BenchNode;
  readonly sql: Sql;
  readonly emails: readonly string[];
}

export async function junkFilterCosts(): Promise<void> {
  const off = await nodeWith('off');
  const builtin = await nodeWith('builtin');
  try {
    const further: number[] = [];
    const shares: number[] = [];
    for (let turn = 0; turn < WARM_TURNS + TURNS; turn++) {
      const without = await costOf(off);
      const withFilter = await costOf(builtin);
      if (turn < WARM_TURNS) continue;
      further.push(withFilter - without);
      shares.push(withFilter / without);
    }
    const cost = percentile(further, 0.5);
    const share = `by turns: ${further.map((each) => each.toFixed(0)).join(', ')}; ratio ${percentile(shares, 0.5).toFixed(3)}`;
    figure('CPU of the junk filter for a message, 4 kB', cost, 'µs', `${withGoal(cost, 60)}; ${share}`);
  } finally {
    for (const { node, sql } of [off, builtin]) {
      await sql.end();
      await node.stop();
    }
  }
}

async function nodeWith(filter: string): Promise<Judging> {
  const node = await startBenchNode({ MANSIO_JUNK_FILTER: filter });
  const accounts = await node.createAccounts(ACCOUNTS);
  const sql = connect(node.database, { max: 1, applicationName: 'bench' });
  for (const [n, { id }] of accounts.entries())
    await sql`insert into junk_words (account_id, words) values (${id}, ${wordsOf(n) as Buffer})`;
  await sql.end();
  // A start makes the base.
  await node.replace();
  const judging = connect(node.database, { max: 1, applicationName: 'bench' });
  if (filter === 'builtin') await baseOf(judging);
  return { node, sql: judging, emails: accounts.map(({ email }) => email) };
}

function wordsOf(seed: number): Uint8Array {
  const words = new JunkWords();
  const learn = (message: Buffer, isJunk: boolean) => {
    const index = indexMessage(message);
    learnMessage(tokensOfMessage(index, junkCut(index), message), isJunk, words);
  };
  let n = 0;
  for (const { message, isJunk } of generatedMail(seed + 1, LESSONS)) {
    learn(message, isJunk);
    if (!isJunk)
      learn(Buffer.from(`From: Sender <sender@remote.test>\r\n\r\n${TEXTS[(seed + n++) % TEXTS.length]}`), false);
  }
  return words.stored();
}

async function baseOf(sql: Sql): Promise<void> {
  const until = performance.now() + BASE_WAIT_MS;
  while ((await sql`select from junk_bases where words <> ''`).length === 0) {
    if (performance.now() > until) throw new Error('the domain has no common base');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Returns the processor time of the node for a message, in µs, until its words are found. */
async function costOf({ node, sql, emails }: Judging): Promise<number> {
  const roots = { node: [node.process.pid!] };
  const before = await cpuSeconds(roots);
  const { accepted } = await smtpLoad({
    size: SIZE,
    texts: TEXTS,
    connections: 20,
    messages: MESSAGES,
    host: '127.0.0.1',
    ports: [node.port('mx')],
    recipients: (i) => [emails[i % emails.length]!],
  });
  if (accepted !== MESSAGES) throw new Error(`${MESSAGES - accepted} messages were not accepted`);
  await untilSearchable(sql);
  return (difference(await cpuSeconds(roots), before).node / MESSAGES) * 1e6;
}
