// Runs many clients with random commands on the same mailboxes. Every response is checked, and at the end all clients must know the
// mailbox that a new client finds. What a client was told meanwhile counts, not what it asks at the end.
import { createHash } from 'node:crypto';
import type { CheckedMailbox } from './checked-mailbox.js';
import { isList, type Response, ServerFault, textOf } from './response.js';
import { type Server, TesterClient } from './tester-client.js';

export interface StressOptions {
  /** Each client uses one of them. */
  readonly servers: readonly Server[];
  readonly users: readonly { readonly name: string; readonly password: string }[];
  /** The number of clients of each user. */
  readonly clients: number;
  readonly seed: number;
  /** The number of commands of each client; `isOver` ends it earlier. */
  readonly commands: number;
  readonly isOver?: () => boolean;
  readonly mailboxes?: readonly string[];
  /** Every client keeps its copy with QRESYNC, and often reconnects; otherwise half of them do. */
  readonly qresync?: boolean;
  /** In ms. The maximum pause of a client between two commands; default 0. */
  readonly pauseMs?: number;
  /** It is called for each answered command. */
  readonly onAnswer?: () => void;
}

export interface UserReport {
  readonly name: string;
  readonly commands: number;
  /** The longest wait for an answer, in ms, and the command that had it. */
  readonly longestMs: number;
  readonly longest: string;
}

export interface StressReport {
  readonly commands: number;
  readonly users: readonly UserReport[];
  readonly byName: ReadonlyMap<string, number>;
  readonly refusals: ReadonlyMap<string, number>;
}

type Random = (below: number) => number;

/** @throws ServerFault with the transcript of the client that noticed it */
export async function stress(options: StressOptions): Promise<StressReport> {
  const { users, clients, mailboxes = ['INBOX', 'Stress'] } = options;
  const run = new Run(options, mailboxes);
  for (const user of users) await run.prepare(user);
  await Promise.all(
    users.flatMap((user, u) =>
      Array.from({ length: clients }, (_, i) => run.client(user, randomOf(options.seed * 1009 + u * 101 + i))),
    ),
  );
  return run.report;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const FLAGS = ['\\Seen', '\\Answered', '\\Flagged', '\\Draft', '\\Deleted', '$Forwarded', 'Zoë-2'.replace('ë', 'e')];
const ITEMS = [
  'FLAGS',
  'UID',
  'ENVELOPE',
  'BODYSTRUCTURE',
  'RFC822.SIZE',
  'INTERNALDATE',
  'BODY.PEEK[]',
  'BODY.PEEK[HEADER.FIELDS (SUBJECT)]',
  'BODY[TEXT]',
];

const LOGIN_TRIES = 20;
const LOGIN_PAUSE_MS = 500;

/** Returns a small set for large mailboxes: where a copy is a new message, they would grow without end. */
const few = (set: string, { messages }: CheckedMailbox): string => (messages.length > 100 ? '*' : set);

class Run {
  readonly #options: StressOptions;
  readonly #mailboxes: readonly string[];
  readonly #byName = new Map<string, number>();
  readonly #refusals = new Map<string, number>();
  #commands = 0;
  #messages = 0;
  #logins = 0;
  /** The capabilities after the login. */
  #capabilities: ReadonlySet<string> = new Set();
  /** The contents of UIDs, by user, mailbox and UIDVALIDITY: they are the same for all clients, always. */
  readonly #bodies = new Map<string, string>();
  readonly #given = new Set<string>();
  /** Counts the clients of each user that have finished their commands. */
  readonly #finished = new Map<string, { arrived: number; readonly release: (() => void)[] }>();
  readonly #users = new Map<string, { -readonly [K in keyof UserReport]: UserReport[K] }>();

  constructor(options: StressOptions, mailboxes: readonly string[]) {
    this.#options = options;
    this.#mailboxes = mailboxes;
  }

  get report(): StressReport {
    const users = [...this.#users.values()];
    return { commands: this.#commands, users, byName: this.#byName, refusals: this.#refusals };
  }

  async prepare(user: StressOptions['users'][number]): Promise<void> {
    const client = await this.#login(user);
    const { untagged } = await client.ok('CAPABILITY');
    this.#capabilities = new Set(untagged[0]!.text.split(' '));
    for (const name of this.#mailboxes) {
      if (name !== 'INBOX') await client.run(`CREATE ${name}`);
      for (let i = 0; i < 5; i++) await client.ok(`APPEND ${name} `, this.#message());
    }
    await client.logout();
  }

  async client(user: StressOptions['users'][number], random: Random): Promise<void> {
    const { qresync = false, pauseMs = 0 } = this.#options;
    const isResuming = qresync || random(2) === 0;
    const isNotified = !isResuming && random(3) === 0 && this.#capabilities.has('NOTIFY');
    const isCompressed = random(4) === 0 && this.#capabilities.has('COMPRESS=DEFLATE');
    const isRev2 = random(4) === 0 && this.#capabilities.has('IMAP4rev2');
    const open = async () => {
      const opened = await this.#login(user);
      if (isCompressed) await opened.ok('COMPRESS DEFLATE');
      if (isResuming) await opened.ok('ENABLE QRESYNC');
      if (isRev2) await opened.ok('ENABLE IMAP4rev2');
      if (isNotified) await opened.ok('NOTIFY SET (selected (MessageNew (UID FLAGS) MessageExpunge FlagChange))');
      opened.isNotified = isNotified;
      return opened;
    };
    let client = await open();
    try {
      let mailbox = '';
      const { commands, isOver = () => false } = this.#options;
      for (let i = 0; i < commands && !isOver(); i++) {
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, random(pauseMs + 1)));
        const dice = random(100);
        if (client.mailbox === undefined || dice < 2) {
          mailbox = this.#mailboxes[random(this.#mailboxes.length)]!;
          await this.#select(client, mailbox, random(8) === 0 ? 'EXAMINE' : 'SELECT');
          if (isResuming && client.mailbox !== undefined) await this.#send(client, 'UID FETCH 1:* (FLAGS)');
        } else if (dice < (qresync ? 6 : 3)) {
          const known = client.mailbox;
          if (random(2) === 0) await client.logout();
          else client.destroy();
          client = await open();
          // The client knows flags up to the highest modseq that it was told.
          if (isResuming && known !== undefined && mailbox !== '') await this.#select(client, mailbox, 'SELECT', known);
        } else await this.#timed(client, user.name, () => this.#step(client, user.name, mailbox, random));
      }
      await this.#compare(client, user, mailbox || 'INBOX');
    } catch (error) {
      const where = client.transcript.join('\n').replaceAll('\r\n', '\n');
      throw new ServerFault(`${user.name}: ${(error as Error).message}\n${where}`, { cause: error });
    } finally {
      client.destroy();
    }
  }

  async #login({ name, password }: StressOptions['users'][number]): Promise<TesterClient> {
    const { servers } = this.#options;
    for (let tries = 1; ; tries++) {
      const client = await TesterClient.open(servers[this.#logins++ % servers.length]!);
      const isLimited = (await client.greeting).name === 'BYE';
      const login = isLimited ? undefined : (await client.run(`LOGIN "${name}" "${password}"`)).completion;
      if (login?.name === 'OK') return client;
      client.destroy();
      // A busy server counts a connection for a while after its client has left.
      if (tries === LOGIN_TRIES || !(isLimited || login?.code === 'LIMIT'))
        throw new Error(login?.raw ?? 'a connection was refused');
      await new Promise((resolve) => setTimeout(resolve, LOGIN_PAUSE_MS));
    }
  }

  /** Records how long the user's client waited for any answer. */
  async #timed(client: TesterClient, name: string, step: () => Promise<void>): Promise<void> {
    let user = this.#users.get(name);
    if (user === undefined) {
      user = { name, commands: 0, longestMs: 0, longest: '' };
      this.#users.set(name, user);
    }
    const began = performance.now();
    await step();
    const ms = performance.now() - began;
    user.commands++;
    if (ms <= user.longestMs) return;
    user.longestMs = ms;
    user.longest = client.lastCommand;
  }

  async #step(client: TesterClient, user: string, mailbox: string, random: Random): Promise<void> {
    const known = client.mailbox!;
    // Sequence numbers may change at any time for a client that is told expunges at once.
    const uid = client.isNotified || random(2) === 0 ? 'UID ' : '';
    const set = uid === '' ? this.#sequenceSet(known, random) : this.#uidSet(known, random);
    const other = this.#mailboxes[random(this.#mailboxes.length)]!;
    const flags = Array.from({ length: 1 + random(2) }, () => FLAGS[random(FLAGS.length)]!);
    const dice = random(100);
    if (dice < 8) await this.#send(client, 'NOOP');
    else if (dice < 18) await this.#append(client, user, random(3) === 0 ? other : mailbox);
    else if (dice < 24) await this.#idle(client, random);
    else if (dice < 28) await this.#send(client, `STATUS ${other} (MESSAGES UIDNEXT UIDVALIDITY UNSEEN)`);
    else if (dice < 34) await this.#send(client, 'EXPUNGE');
    else if (dice < 40) await this.#search(client, uid, random);
    else if (dice < 42) await this.#sort(client, uid, random);
    else if (set === undefined) await this.#send(client, 'CHECK');
    else if (dice < 64) await this.#fetch(client, user, mailbox, uid, set, random);
    else if (dice < 86) await this.#store(client, uid, set, flags, random);
    else if (dice < 92) await this.#send(client, `${uid}COPY ${few(set, known)} ${other}`);
    else if (dice < 95) await this.#send(client, `${uid}MOVE ${few(set, known)} ${other}`);
    else if (uid !== '') await this.#send(client, `UID EXPUNGE ${set}`);
    else await this.#send(client, 'LIST "" *');
  }

  /** Counts a refusal, such as a temporary one of an overloaded server; the client then has no mailbox. */
  async #select(client: TesterClient, mailbox: string, command: string, known?: CheckedMailbox): Promise<void> {
    this.#count(`${command} ${mailbox}`, (await client.select(mailbox, command, known)).completion);
  }

  async #send(client: TesterClient, command: string): Promise<readonly Response[]> {
    const { completion, untagged } = await client.run(command);
    this.#count(command, completion);
    return untagged;
  }

  #count(command: string, { name, code, raw }: Response): void {
    const [first, second] = command.split(' ');
    const word = first === 'UID' ? `${first} ${second}` : first!;
    this.#commands++;
    this.#options.onAnswer?.();
    this.#byName.set(word, (this.#byName.get(word) ?? 0) + 1);
    if (name === 'OK') return;
    if (name === 'BAD') throw new ServerFault(`${command}: ${raw}`);
    const reason = `${word} ${name} ${code?.split(' ')[0] ?? ''}`;
    this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + 1);
  }

  async #append(client: TesterClient, user: string, mailbox: string): Promise<void> {
    const { completion } = await client.run(`APPEND ${mailbox} (${FLAGS[this.#messages % 4]}) `, this.#message());
    this.#count('APPEND', completion);
    this.#placed(user, mailbox, completion);
  }

  /** Checks that no UID is used twice. */
  #placed(user: string, mailbox: string, { code }: Response): void {
    const [, uidValidity, uid] = /^APPENDUID (\d+) (\d+)$/.exec(code ?? '') ?? [];
    if (uid === undefined) return;
    const key = `${user}/${mailbox}/${uidValidity}/${uid}`;
    if (this.#given.has(key)) throw new ServerFault(`${key} was given to another message`);
    this.#given.add(key);
  }

  #message(): Buffer {
    const id = ++this.#messages;
    const lines = `line of message ${id}\r\n`.repeat(1 + (id % 40));
    return Buffer.from(
      `From: Zoë 💌 <zoe@example.test>\r\nTo: b@example.test\r\nSubject: number ${id}\r\nMessage-ID: <${id}.${this.#options.seed}@stress.test>\r\nDate: Sun, 22 Nov 2026 10:00:00 +0000\r\n\r\n${lines}`,
    );
  }

  async #store(
    client: TesterClient,
    uid: string,
    set: string,
    flags: readonly string[],
    random: Random,
  ): Promise<void> {
    const mode = (['+', '-', ''] as const)[random(3)]!;
    const isSilent = random(3) === 0;
    const settle = isSilent ? client.mailbox!.expectSilent(set, uid !== '', { mode, flags }) : undefined;
    const modseqs = client.mailbox!.messages.flatMap(({ modseq }) => modseq ?? []);
    // A condition is only possible after the client has asked for modseqs.
    const isConditional = !isSilent && modseqs.length > 0 && random(4) === 0;
    const condition = isConditional ? `(UNCHANGEDSINCE ${modseqs[random(modseqs.length)]}) ` : '';
    const form = `FLAGS${isSilent ? '.SILENT' : ''} (${flags.join(' ')})`;
    const { completion } = await client.run(`${uid}STORE ${set} ${condition}${mode}${form}`);
    this.#count(`${uid}STORE`, completion);
    settle?.(completion.name === 'OK');
  }

  async #idle(client: TesterClient, random: Random): Promise<void> {
    const idle = await client.idle();
    for (let i = random(4); i >= 0; i--) await new Promise((resolve) => setImmediate(resolve));
    const { completion } = await idle.done();
    this.#count('IDLE', completion);
  }

  async #search(client: TesterClient, uid: string, random: Random): Promise<void> {
    const known = client.mailbox!;
    const key = ['ALL', 'SEEN', 'UNSEEN DELETED', 'OR FLAGGED ANSWERED', 'NOT DRAFT', 'SUBJECT number'][random(6)]!;
    const found = await this.#send(client, `${uid}SEARCH ${key}`);
    for (const { name, values } of found) {
      if (name !== 'SEARCH') continue;
      const numbers = values.map(Number);
      if (uid === '' && numbers.some((seq) => !(seq >= 1 && seq <= known.messages.length))) {
        throw new ServerFault(`SEARCH found ${numbers} of ${known.messages.length}`);
      }
    }
  }

  async #sort(client: TesterClient, uid: string, random: Random): Promise<void> {
    const known = client.mailbox!;
    const command = [
      'SORT (REVERSE ARRIVAL) UTF-8 ALL',
      'SORT (SUBJECT SIZE) UTF-8 UNSEEN',
      'THREAD REFERENCES UTF-8 ALL',
    ];
    for (const { name, text } of await this.#send(client, `${uid}${command[random(3)]}`)) {
      if (name !== 'SORT' && name !== 'THREAD') continue;
      const numbers = (text.match(/\d+/g) ?? []).map(Number);
      if (new Set(numbers).size < numbers.length) throw new ServerFault(`${name} has a message twice: ${numbers}`);
      if (uid === '' && numbers.some((seq) => !(seq >= 1 && seq <= known.messages.length))) {
        throw new ServerFault(`${name} has ${numbers} of ${known.messages.length}`);
      }
    }
  }

  async #fetch(client: TesterClient, user: string, mailbox: string, uid: string, set: string, random: Random) {
    const items = new Set(['UID', ...Array.from({ length: 1 + random(3) }, () => ITEMS[random(ITEMS.length)]!)]);
    const responses = await this.#send(client, `${uid}FETCH ${set} (${[...items].join(' ')})`);
    const { uidValidity } = client.mailbox!;
    for (const { name, values, raw } of responses) {
      const [data] = values;
      if (name !== 'FETCH' || !isList(data)) continue;
      const body = data[data.findIndex((value) => textOf(value) === 'BODY[]') + 1];
      const at = data.findIndex((value) => textOf(value) === 'UID') + 1;
      if (at === 0 && items.size > 0 && raw.includes('BODY[]'))
        throw new ServerFault('FETCH without the UID that was asked for');
      if (!raw.includes('BODY[]') || !Buffer.isBuffer(body)) continue;
      const key = `${user}/${mailbox}/${uidValidity}/${textOf(data[at])}`;
      const hash = createHash('sha256').update(body).digest('hex');
      const before = this.#bodies.get(key);
      if (before !== undefined && before !== hash) throw new ServerFault(`${key} is another message now`);
      this.#bodies.set(key, hash);
    }
  }

  #sequenceSet({ messages }: CheckedMailbox, random: Random): string | undefined {
    if (messages.length === 0) return undefined;
    const one = () => 1 + random(messages.length);
    return [`${one()}`, `${one()}:${one()}`, `${one()},${one()},${one()}`, '*', `${one()}:*`][random(5)];
  }

  #uidSet(known: CheckedMailbox, random: Random): string | undefined {
    const { uids } = known;
    if (uids.length === 0) return undefined;
    const one = () => uids[random(uids.length)]!;
    return [`${one()}`, `${one()}:${one()}`, `${one()},${one() + 1}`, '*', `${one()}:*`][random(5)];
  }

  /** Waits for the other clients, and compares what this one knows with the real content. */
  async #compare(client: TesterClient, user: StressOptions['users'][number], mailbox: string): Promise<void> {
    if (client.mailbox === undefined) await client.select(mailbox);
    await this.#all(user.name);
    await client.ok('NOOP');
    const known = client.mailbox!;
    const told = known.messages.map(({ uid, flags }) => ({ uid, flags: flags && [...flags].sort() }));
    const fresh = await this.#login(user);
    await fresh.select(mailbox, 'EXAMINE');
    if (fresh.mailbox!.messages.length > 0) await fresh.ok('FETCH 1:* (UID FLAGS)');
    const truth = fresh.mailbox!.messages;
    if (truth.length !== told.length)
      throw new ServerFault(`the client knows of ${told.length} messages of ${truth.length}`);
    for (const [i, { uid, flags }] of told.entries()) {
      const { uid: trueUid, flags: trueFlags } = truth[i]!;
      if (uid !== undefined && uid !== trueUid)
        throw new ServerFault(`message ${i + 1}: UID ${uid}, and it is ${trueUid}`);
      if (flags !== undefined && String(flags) !== String([...trueFlags!].sort())) {
        throw new ServerFault(`message ${i + 1}: flags ${flags}, and they are ${[...trueFlags!]}`);
      }
    }
    await fresh.logout();
  }

  /** Waits until every client of the user has arrived; other users have their own mailboxes. */
  async #all(user: string): Promise<void> {
    const finished = this.#finished.get(user) ?? { arrived: 0, release: [] };
    this.#finished.set(user, finished);
    if (++finished.arrived < this.#options.clients) return new Promise((resolve) => finished.release.push(resolve));
    for (const release of finished.release) release();
  }
}
