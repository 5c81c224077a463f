// Tests several clients on one mailbox over the wire, with deliveries, copies and other owners in between. Each client believes what
// it is told, and knows the mailbox as its owner does once all is quiet.

import fc from 'fast-check';
import { flagNames } from '../../../src/mail-format/flags.js';
import { unpackFlags, unpackUids } from '../../../src/mail-format/packed-columns.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';
import type { ImapClient } from './client.js';
import { ALICE, type ImapGateway, startImap } from './gateway.js';
import { changedFlags, type FlagStore } from './view/folder-owner.js';
import { ModelClient } from './view/model-client.js';

const SESSIONS = 3;
const STEPS = [
  'deliver',
  'deliver',
  'takeOver',
  'noop',
  'fetch',
  'uidFetch',
  'store',
  'silentStore',
  'markDeleted',
  'expunge',
  'uidExpunge',
  'copyIn',
  'moveOut',
  'idle',
  'select',
] as const;

const FLAGS: readonly string[][] = [['\\Seen'], ['\\Flagged', 'work'], ['\\Answered'], ['home']];
const MODES: readonly (readonly [mode: FlagStore['mode'], sign: string])[] = [
  ['add', '+'],
  ['remove', '-'],
  ['replace', ''],
];

const step = fc.record({
  type: fc.constantFrom(...STEPS),
  session: fc.nat(SESSIONS - 1),
  a: fc.nat(99),
  b: fc.nat(99),
  /** The next step begins while this one runs. */
  isOverlapping: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

class Client {
  model = new ModelClient();
  readonly #connection: ImapClient;
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: ImapClient) {
    this.#connection = connection;
  }

  done(): Promise<unknown> {
    return this.#last;
  }

  run(type: Step['type'] | 'learn', a: number, b: number): Promise<unknown> {
    const done = this.#last.then(() => this.#run(type, a, b));
    done.catch(() => {});
    this.#last = done;
    return done;
  }

  async #run(type: Step['type'] | 'learn', a: number, b: number): Promise<void> {
    const { messages } = this.model;
    const count = messages.length;
    const [first, last] = [1 + (a % Math.max(1, count)), 1 + (b % Math.max(1, count))];
    const set = `${first}:${last}`;
    const uid = messages[first - 1]?.uid ?? 1;
    const [mode, sign] = MODES[a % 3]!;
    const flags = FLAGS[b % FLAGS.length]!;
    switch (type) {
      case 'select':
        this.model = new ModelClient();
        await this.#command('SELECT INBOX', true);
        return;
      case 'noop':
        await this.#command('NOOP', true);
        return;
      case 'idle':
        return this.#idle();
      case 'learn':
        await this.#command('UID FETCH 1:* (FLAGS)', true);
        return;
      case 'uidFetch':
        await this.#command(`UID FETCH ${uid}:* (FLAGS)`, true);
        return;
      case 'expunge':
        await this.#command('EXPUNGE', true);
        return;
      case 'uidExpunge':
        await this.#command(`UID EXPUNGE ${uid}:${uid + 3}`, true);
        return;
    }
    if (count === 0) return;
    switch (type) {
      case 'fetch':
        await this.#command(`FETCH ${set} (UID FLAGS)`, false);
        return;
      case 'store':
        await this.#command(`STORE ${set} ${sign}FLAGS (${flags.join(' ')})`, false);
        return;
      case 'markDeleted':
        await this.#command(`STORE ${set} +FLAGS (\\Deleted)`, false);
        return;
      case 'silentStore':
        return this.#silentStore(first, last, { mode, flags }, sign);
      case 'copyIn':
        await this.#command(`COPY ${set} Archive`, true);
        await this.#connection.command(`UID MOVE ${uid} Archive`).then(({ untagged }) => this.#receive(untagged));
        await this.#inArchive('MOVE 1:* INBOX');
        return;
      case 'moveOut':
        await this.#command(`MOVE ${first} Archive`, true);
    }
  }

  async #command(text: string, mayExpunge: boolean): Promise<string> {
    this.model.isHolding = !mayExpunge;
    const { untagged, tagged } = await this.#connection.command(text);
    if (tagged.startsWith('BAD')) throw new Error(`${text}: ${tagged}`);
    this.#receive(untagged);
    this.model.isHolding = false;
    return tagged;
  }

  #receive(untagged: readonly string[]): void {
    for (const line of untagged) this.model.receive(`* ${line}`);
  }

  async #silentStore(first: number, last: number, change: FlagStore, sign: string): Promise<void> {
    const named = this.model.messages.slice(Math.min(first, last) - 1, Math.max(first, last));
    const before = named.map(({ flags }) => flags);
    // The server reports other flags after its own change.
    for (const message of named) if (message.flags !== undefined) message.flags = changedFlags(message.flags, change);
    const tagged = await this.#command(`STORE ${first}:${last} ${sign}FLAGS.SILENT (${change.flags.join(' ')})`, false);
    if (tagged.startsWith('OK')) return;
    // Some messages were gone; they keep their flags, which the client does not know.
    named.forEach((message, i) => {
      if (before[i] !== undefined) message.flags = undefined;
    });
  }

  async #idle(): Promise<void> {
    const tag = this.#connection.send('IDLE');
    while (!(await this.#next()).startsWith('+'));
    await turn();
    this.#connection.write('DONE\r\n');
    while (!(await this.#next()).startsWith(tag));
  }

  async #next(): Promise<string> {
    const line = await this.#connection.next();
    if (line.startsWith('* ')) this.model.receive(line);
    return line;
  }

  /** Runs a command in Archive and selects INBOX again, as a new session. */
  async #inArchive(text: string): Promise<void> {
    await this.#connection.command('SELECT Archive');
    await this.#connection.command(text);
    this.model = new ModelClient();
    await this.#command('SELECT INBOX', true);
  }
}

async function truth(gateway: ImapGateway): Promise<Map<number, string>> {
  const ask = gateway.context.mailboxes.of(ALICE).ask('folderChanges', { folderId: 'inbox', since: null });
  const { reply } = await ask;
  const flags = unpackFlags(reply!.flags);
  const keywords = new Map<number, readonly string[]>();
  for (const { names, uids } of reply!.keywords) for (const uid of unpackUids(uids)) keywords.set(uid, names);
  return new Map(
    [...unpackUids(reply!.uids)].map((uid, i) => {
      const names = [...flagNames(flags[i]!), ...(keywords.get(uid) ?? [])];
      return [uid, textOf((flags[i]! & 0x8000) === 0 ? names : [...names, '\\Deleted'])];
    }),
  );
}

const textOf = (flags: Iterable<string>): string => [...flags].sort().join(' ');

function compare({ messages }: ModelClient, owned: ReadonlyMap<number, string>): void {
  const uids = [...owned.keys()];
  if (messages.length !== uids.length) throw new Error(`the client counts ${messages.length} of ${uids.length}`);
  messages.forEach(({ uid, flags }, i) => {
    if (uid !== undefined && uid !== uids[i]) throw new Error(`${i + 1} is UID ${uids[i]}, the client knows ${uid}`);
    const present = owned.get(uids[i]!)!;
    if (flags !== undefined && textOf(flags) !== present) {
      throw new Error(`UID ${uids[i]} has (${present}), the client knows (${textOf(flags)})`);
    }
  });
}

test('each client knows the mailbox as it is once all is quiet', async (t) => {
  const gateway = await startImap(t);
  let number = 0;
  const deliver = () => gateway.deliver(ALICE, `From: a@b.test\r\nSubject: ${++number}\r\n\r\nhello\r\n`);
  const clients: Client[] = [];
  for (let i = 0; i < SESSIONS; i++) {
    const connection = await gateway.open();
    if (i === 1) await connection.command('ENABLE CONDSTORE IMAP4rev2');
    if (i === 2) await connection.command('ENABLE QRESYNC');
    clients.push(new Client(connection));
  }
  for (const client of clients) await client.run('select', 0, 0);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      for (const client of clients) await client.run('learn', 0, 0);
      const deliveries: Promise<unknown>[] = [];
      for (const { type, session, a, b, isOverlapping } of steps) {
        if (type === 'takeOver') gateway.mailboxes.reload();
        if (type === 'deliver') deliveries.push(deliver());
        const running =
          type === 'deliver' ? deliveries.at(-1) : type === 'takeOver' ? undefined : clients[session]!.run(type, a, b);
        if (!isOverlapping) await running;
      }
      await Promise.all(deliveries);
      for (const client of clients) await client.done();
      for (const client of clients) await client.run('noop', 0, 0);
      const owned = await truth(gateway);
      for (const { model } of clients) compare(model, owned);
    }),
    { numRuns: runs(60), endOnFailure: true },
  );
  t.true(number > 0);
});
