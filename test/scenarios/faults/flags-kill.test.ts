// Kills a node (kill -9) around flag changes of many messages, which are written to the emails after the answer: changes answered OK
// hold, a STORE without an answer holds for all of its messages or for none, and finally the rows of the emails agree.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImapClient } from '../../../bench/support/imap-client.js';
import { storeOf } from '../../../dev/node-accounts.js';
import { flagBit } from '../../../src/mail-format/flags.js';
import { KILLS } from '../../support/amounts.js';
import { imapSession, nodeWithInbox } from '../../support/clients/filled-inbox.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const MESSAGES = 600;
const STORES = 4;
/** In ms. It is longer than flags wait to be written. */
const MOST_WAIT_MS = 900;
const FLAGS = ['\\Seen', '\\Flagged', '\\Answered'] as const;

type Flags = ReadonlySet<string>;

interface Store {
  readonly first: number;
  readonly last: number;
  readonly isAdded: boolean;
  readonly flag: (typeof FLAGS)[number];
}

const random = (below: number) => Math.floor(Math.random() * below);

function drawn(): Store {
  const first = 1 + random(MESSAGES / 2);
  const length = random(4) === 0 ? random(5) : MESSAGES / 3 + random(MESSAGES / 4);
  const flag = FLAGS[random(FLAGS.length)]!;
  return { first, last: Math.min(MESSAGES, first + Math.floor(length)), isAdded: random(2) === 0, flag };
}

const textOf = ({ first, last, isAdded, flag }: Store) =>
  `STORE ${first}:${last} ${isAdded ? '+' : '-'}FLAGS (${flag})`;

function after(before: readonly Flags[], { first, last, isAdded, flag }: Store): readonly Flags[] {
  return before.map((flags, i) => {
    if (i + 1 < first || i + 1 > last) return flags;
    const others = [...flags].filter((each) => each !== flag);
    return new Set(isAdded ? [...others, flag] : others);
  });
}

const shown = (model: readonly Flags[]) => model.map((flags) => [...flags].sort().join(' '));

async function flagsOf(client: ImapClient): Promise<string[]> {
  const { text } = await client.run('FETCH 1:* FLAGS', true);
  return [...text.matchAll(/^\* \d+ FETCH \(FLAGS \(([^)]*)\)\)/gm)].map(([, flags]) =>
    flags!.split(' ').sort().join(' '),
  );
}

test('kills around STOREs of many messages lose no flags', async (t) => {
  t.timeout(600_000);
  const { settings, account, ...first } = await nodeWithInbox('anna@example.test', MESSAGES);
  let { node, client } = first;
  t.teardown(() => node.stop());
  await client.ok('SELECT INBOX');
  let model: readonly Flags[] = Array.from({ length: MESSAGES }, () => new Set(['\\Seen']));
  for (let kill = 1; kill <= KILLS.flags; kill++) {
    for (let i = 0; i < STORES; i++) {
      const store = drawn();
      await client.ok(textOf(store));
      model = after(model, store);
    }
    await new Promise((resolve) => setTimeout(resolve, random(MOST_WAIT_MS)));
    const last = drawn();
    const answer = client.ok(textOf(last)).then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => setTimeout(resolve, random(20)));
    if (kill % 3 === 0) process.kill(await postmaster(node), 'SIGKILL');
    await node.kill('SIGKILL');
    const isAnswered = await answer;
    node = await startTestNode(settings);
    client = await imapSession(node, account);
    await client.ok('SELECT INBOX');
    const found = await flagsOf(client);
    const whole = shown(after(model, last));
    if (isAnswered || found.join() === whole.join()) model = after(model, last);
    t.deepEqual(found, shown(model), `after kill ${kill}`);
  }
  await client.ok(`STORE 1:${MESSAGES} +FLAGS (\\Answered)`);
  model = after(model, { first: 1, last: MESSAGES, isAdded: true, flag: '\\Answered' });
  client.close();
  const rows = await storeOf(node);
  await eventually(
    'the flags of all deferred writes to be written',
    async () => (await rows`select from deferred_flag_writes`).length === 0,
  );
  const written = await rows<{ flags: number }[]>`
    select e.flags from placements p join emails e using (account_id) where p.email_id = e.id order by p.uid`;
  const names = (flags: number) => FLAGS.filter((name) => (flags & flagBit(name)) !== 0);
  t.deepEqual(
    written.map(({ flags }) => names(flags).sort().join(' ')),
    shown(model),
  );
  await rows.end();
});

async function postmaster(node: TestNode): Promise<number> {
  const [pid] = (await readFile(join(node.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  return Number(pid);
}
