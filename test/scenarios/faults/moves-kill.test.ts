// Kills a node (kill -9) around MOVEs of many messages whose flags were changed together before: each message is in one folder, a MOVE
// without an answer holds for all of its messages or for none, and no flag is lost.

import type { ImapClient } from '../../../bench/support/imap-client.js';
import { KILLS } from '../../support/amounts.js';
import { imapSession, nodeWithInbox } from '../../support/clients/filled-inbox.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';

const MESSAGES = 600;
const FOLDERS = ['INBOX', 'Archive'];

/** The messages of each folder, by subject and flags. */
type Model = Readonly<Record<string, readonly string[]>>;

const random = (below: number) => Math.floor(Math.random() * below);

async function found(client: ImapClient): Promise<Model> {
  const model: Record<string, string[]> = {};
  for (const folder of FOLDERS) {
    await client.ok(`SELECT ${folder}`);
    const { text } = await client.run('FETCH 1:* (FLAGS ENVELOPE)', true);
    const lines = [...text.matchAll(/^\* \d+ FETCH \(FLAGS \(([^)]*)\) ENVELOPE \(NIL "(\d+)"/gm)];
    model[folder] = lines.map(([, flags, subject]) => [subject, ...flags!.split(' ').sort()].join(' ').trim());
  }
  return model;
}

const moved = (model: Model, from: string, to: string, count: number): Model => ({
  [from]: model[from]!.slice(count),
  [to]: [...model[to]!, ...model[from]!.slice(0, count)],
});

test('kills around MOVEs of many messages lose no message and no flag', async (t) => {
  t.timeout(600_000);
  const { settings, account, ...first } = await nodeWithInbox('zoe@example.test', MESSAGES);
  let { node, client } = first;
  t.teardown(() => node.stop());
  let model = await found(client);
  t.deepEqual(model['INBOX']?.length, MESSAGES);
  for (let kill = 1; kill <= KILLS.moves; kill++) {
    const [from, to] = model['INBOX']!.length >= MESSAGES / 2 ? FOLDERS : [...FOLDERS].reverse();
    await client.ok(`SELECT ${from}`);
    await client.ok(`STORE 1:* ${kill % 2 === 0 ? '-' : '+'}FLAGS (\\Flagged)`);
    await client.ok('STORE 1:* +FLAGS (\\Answered)');
    model = await found(client);
    await client.ok(`SELECT ${from}`);
    const count = 200 + random(model[from!]!.length - 199);
    const answer = client.ok(`MOVE 1:${count} ${to}`).then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => setTimeout(resolve, random(40)));
    await node.kill('SIGKILL');
    const isAnswered = await answer;
    node = await startTestNode(settings);
    client = await imapSession(node, account);
    const now = await found(client);
    const after = moved(model, from!, to!, count);
    const isMoved = isAnswered || now[from!]!.length !== model[from!]!.length;
    t.deepEqual(now, isMoved ? after : model, `after kill ${kill}, ${isAnswered ? 'answered' : 'not answered'}`);
    model = now;
  }
});
