// Kills the owner of a mailbox repeatedly under sessions of its own and of other nodes: what was answered OK is there, once.
// Sessions whose node lives continue; the tester checks each response they get.
import { createHash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { isList, textOf } from '../../../dev/imap-tester/response.js';
import { stress } from '../../../dev/imap-tester/stress.js';
import { type Completed, TesterClient } from '../../../dev/imap-tester/tester-client.js';
import type { ClusterNode } from '../../../dev/local-node.js';
import type { TestAccount } from '../../../dev/node-accounts.js';
import { KILLS } from '../../support/amounts.js';
import { serialTestWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

const SESSIONS = 4;
/** In ms, between two rounds of a session: the nodes have time to take over, and other tests to run. */
const PAUSE_MS = 100;
/** In ms. All answers wait while a mailbox has no owner. */
const PATIENCE_MS = 300_000;
/** Answers between two kills of random sessions. */
const ANSWERS = 300;
const PLACES = ['INBOX', 'Archive'] as const;

type Place = (typeof PLACES)[number] | 'gone';

/** A message of one session: `place` is certain; `maybe` has places where it may be because an answer was lost. */
interface Sent {
  readonly id: string;
  uid: number;
  place: Place | undefined;
  readonly maybe: Set<Place>;
  isFlagged: boolean | 'maybe';
  /** Messages of the same APPEND, which no later command changes. */
  readonly others: readonly Sent[];
}

/** Some APPEND commands have this many messages besides the first. */
const OTHERS = 3;

const unanswered = (id: string, others: readonly Sent[] = []): Sent => {
  return { id, uid: 0, place: undefined, maybe: new Set(['INBOX']), isFlagged: false, others };
};

const octetsOf = ({ id }: Sent) => Buffer.from(`Message-ID: <${id}@kill.test>\r\nSubject: ${id}\r\n\r\nZoë 💌\r\n`);

const serverOf = (node: ClusterNode) => {
  const [host, port] = node.process.ready.listeners['imap']!.split(':');
  return { host: host!, port: Number(port) };
};

/** Repeats a command that is refused for now, as it is while the mailbox has no owner. */
async function served(what: string, run: () => Promise<Completed>): Promise<void> {
  await eventually(
    what,
    async () => {
      const outcome = await run().catch((error: unknown) => ({ error }));
      if ('error' in outcome) return outcome;
      const { name, code, raw } = outcome.completion;
      if (name !== 'OK' && code !== 'UNAVAILABLE') return { error: new Error(raw) };
      return name === 'OK';
    },
    PATIENCE_MS,
  ).then((outcome) => {
    if (typeof outcome === 'object') throw outcome.error;
  });
}

const loggedIn = (client: TesterClient, { email, key }: TestAccount) =>
  served('the login', () => client.run(`LOGIN "${email}" "${key}"`));
const selected = (client: TesterClient, mailbox: string) => served(mailbox, () => client.select(mailbox));

class Mover {
  readonly sent: Sent[] = [];
  /** Commands that were answered OK. */
  answered = 0;
  /** Sessions that ended though their node was alive. */
  readonly broken: string[] = [];
  /** Commands that were answered NO. */
  readonly refused: string[] = [];
  readonly #name: string;
  readonly #account: TestAccount;
  readonly #nodes: () => readonly ClusterNode[];
  readonly #home: number;
  readonly #kills: (node: ClusterNode) => number;
  #isStopped = false;
  #client: TesterClient | undefined;
  #lastUid = 0;

  /** `kills` returns how often a node has been killed so far. */
  constructor(
    home: number,
    account: TestAccount,
    nodes: () => readonly ClusterNode[],
    kills: (node: ClusterNode) => number,
  ) {
    this.#kills = kills;
    this.#name = `mover-${home}`;
    this.#home = home;
    this.#account = account;
    this.#nodes = nodes;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<void> {
    let node = this.#nodes()[0]!;
    let life = 0;
    for (let round = 0; !this.#isStopped; round++) {
      try {
        if (this.#client === undefined) {
          const nodes = this.#nodes();
          node = nodes[this.#home % nodes.length]!;
          life = this.#kills(node);
          this.#client = await this.#open(node);
        }
        await this.#round(this.#client, round);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      } catch (error) {
        if (!/ECONNREFUSED|ECONNRESET|EPIPE|closed/.test(String(error))) throw error;
        if (this.#kills(node) === life) this.broken.push(`${error}\n${this.#client?.transcript.slice(-8).join('\n')}`);
        this.#client?.destroy();
        this.#client = undefined;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    this.#client?.destroy();
  }

  async #open(node: ClusterNode): Promise<TesterClient> {
    const client = await TesterClient.open(serverOf(node));
    try {
      await loggedIn(client, this.#account);
      await selected(client, 'INBOX');
      return client;
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  async #round(client: TesterClient, round: number): Promise<void> {
    const id = `${this.#name}.${round}.${createHash('sha1').update(`${this.#name}${round}`).digest('hex').slice(0, 8)}`;
    const others = Array.from({ length: round % 4 === 0 ? OTHERS : 0 }, (_, i) => unanswered(`${id}.${i}`));
    const message = unanswered(id, others);
    const all = [message, ...others];
    this.sent.push(...all);
    const { completion } = await client.run('APPEND INBOX', ...all.flatMap((each) => [' ', octetsOf(each)]));
    if (completion.name !== 'OK') return;
    this.answered++;
    const uid = Number(/APPENDUID \d+ (\d+)/.exec(completion.code ?? '')![1]);
    if (uid <= this.#lastUid) throw new Error(`UID ${uid} after UID ${this.#lastUid}`);
    for (const [i, each] of all.entries()) {
      each.uid = uid + i;
      this.#settle(each, 'INBOX');
    }
    this.#lastUid = uid + others.length;
    message.isFlagged = 'maybe';
    if (await this.#done(client, `UID STORE ${message.uid} +FLAGS (\\Flagged)`)) message.isFlagged = true;
    if (round % 3 === 0) {
      message.maybe.add('Archive');
      if (await this.#done(client, `UID MOVE ${message.uid} Archive`)) this.#settle(message, 'Archive');
    } else if (round % 3 === 1) {
      const isDeleted = await this.#done(client, `UID STORE ${message.uid} +FLAGS.SILENT (\\Deleted)`);
      message.maybe.add('gone');
      // A refused STORE may have been carried out.
      const isExpunged = await this.#done(client, `UID EXPUNGE ${message.uid}`);
      if (isDeleted && isExpunged) this.#settle(message, 'gone');
    }
    // The tester compares each sequence number with the UID that the client knows for it.
    if (client.mailbox!.messages.length > 0) await client.run('FETCH 1:* (UID FLAGS)');
  }

  #settle(message: Sent, place: Place): void {
    message.place = place;
    message.maybe.clear();
  }

  async #done(client: TesterClient, command: string): Promise<boolean> {
    const { completion } = await client.run(command);
    if (completion.name !== 'OK') {
      this.refused.push(`${command}: ${completion.raw}`);
      return false;
    }
    this.answered++;
    return true;
  }
}

serialTestWith('nats-server')(
  'kills of the owner under APPEND, STORE, MOVE and EXPUNGE lose and double nothing',
  async (t) => {
    t.timeout(600_000);
    const cluster = await startCluster(t, {
      nodes: 3,
      accounts: 1,
      leaseTtlMs: PATIENT_TTL_MS,
      settings: { MANSIO_ALLOW_PLAINTEXT_AUTH: 'true', MANSIO_LOG_LEVEL: 'warn' },
    });
    await cluster.settled();
    const account = cluster.accounts[0]!;
    const kills = new Map<ClusterNode, number>();
    let dying: ClusterNode | undefined;
    const living = () => cluster.nodes.filter((node) => node !== dying);
    const killsOf = (node: ClusterNode) => kills.get(node) ?? 0;
    const movers = Array.from({ length: SESSIONS }, (_, i) => new Mover(i, account, living, killsOf));
    const runs = movers.map((mover) => mover.run());
    const failed = Promise.race(runs);
    for (let kill = 0; kill < KILLS.clusterImap; kill++) {
      const before = movers.map(({ answered }) => answered);
      await Promise.race([
        failed,
        eventually(
          'answers to all sessions',
          () => movers.every(({ answered }, i) => answered > before[i]! + 3),
          PATIENCE_MS,
        ),
      ]);
      const owner = await cluster.ownerOf(account);
      kills.set(owner, killsOf(owner) + 1);
      dying = owner;
      await owner.kill();
      const after = movers.map(({ answered }) => answered);
      await Promise.race([
        failed,
        eventually(
          'answers without the owner',
          () => movers.some(({ answered }, i) => answered > after[i]! + 2),
          PATIENCE_MS,
        ),
      ]);
      await owner.start();
      dying = undefined;
      await cluster.settled();
    }
    for (const mover of movers) mover.stop();
    await Promise.all(runs);
    t.deepEqual(
      movers.flatMap(({ broken }) => broken),
      [],
      'sessions that ended though their node lives',
    );
    await check(
      t,
      movers.flatMap(({ sent }) => sent),
      cluster.nodes[0]!,
      account,
    );
    t.log(`${movers.reduce((sum, { answered }) => sum + answered, 0)} commands were answered OK`);
    t.log(movers.flatMap(({ refused }) => refused));
  },
);

async function check(t: ExecutionContext, sent: readonly Sent[], node: ClusterNode, account: TestAccount) {
  const places = new Map<string, { place: Place; uid: number; isFlagged: boolean }[]>();
  const client = await TesterClient.open(serverOf(node));
  await loggedIn(client, account);
  for (const place of PLACES) {
    await selected(client, place);
    const { untagged } = await client.ok('FETCH 1:* (UID FLAGS ENVELOPE)');
    for (const { name, values } of untagged) {
      const [data] = values;
      if (name !== 'FETCH' || !isList(data)) continue;
      const of = (item: string) => data[data.findIndex((value) => textOf(value) === item) + 1];
      const envelope = of('ENVELOPE');
      const id = isList(envelope) ? textOf(envelope[1]) : '';
      const flags = of('FLAGS');
      const isFlagged = isList(flags) && flags.some((flag) => textOf(flag) === '\\Flagged');
      places.set(id, [...(places.get(id) ?? []), { place, uid: Number(textOf(of('UID'))), isFlagged }]);
    }
  }
  client.destroy();
  for (const { id, uid, place, maybe, isFlagged, others } of sent) {
    const found = places.get(id) ?? [];
    const is: Place = found[0]?.place ?? 'gone';
    t.true(found.length <= 1, `${id} is there ${found.length} times`);
    const allowed = [...(place === undefined ? ['gone'] : [place]), ...maybe];
    t.true(allowed.includes(is), `${id} is ${is}, and was answered to be ${allowed.join(' or ')}`);
    if (is === 'INBOX' && uid > 0) t.is(found[0]!.uid, uid, `${id} has kept its UID`);
    if (is !== 'gone' && isFlagged === true) t.true(found[0]!.isFlagged, `${id} is flagged`);
    const there = others.filter((other) => places.has(other.id)).length;
    const all = place === undefined && is === 'gone' ? 0 : others.length;
    t.is(there, all, `${there} of ${others.length} that came with ${id}`);
  }
}

serialTestWith('nats-server')(
  'clients on two nodes see one mailbox while the third, its owner, is killed and comes back',
  async (t) => {
    t.timeout(600_000);
    const cluster = await startCluster(t, {
      nodes: 3,
      accounts: 6,
      leaseTtlMs: PATIENT_TTL_MS,
      settings: { MANSIO_ALLOW_PLAINTEXT_AUTH: 'true', MANSIO_LOG_LEVEL: 'warn' },
    });
    await cluster.settled();
    const owners = await Promise.all(cluster.accounts.map((account) => cluster.ownerOf(account)));
    const owner = owners[0]!;
    const users = cluster.accounts
      .filter((_, i) => owners[i] === owner)
      .map(({ email, key }) => ({ name: email, password: key }));
    const servers = cluster.nodes.filter((node) => node !== owner).map(serverOf);
    let answers = 0;
    let isOver = false;
    const run = stress({
      servers,
      users: users.slice(0, 2),
      clients: 3,
      commands: 100_000,
      seed: 5,
      onAnswer() {
        answers++;
      },
      isOver: () => isOver,
    });
    const killed = async () => {
      for (let i = 0; i < 2; i++) {
        const enough = answers + ANSWERS;
        await Promise.race([run, eventually('answers to the sessions', () => answers >= enough, PATIENCE_MS)]);
        await owner.kill();
        await cluster.settled();
        await owner.start();
        await cluster.settled();
      }
      isOver = true;
    };
    const [report] = await Promise.all([run, killed()]);
    t.true(report.commands > 500);
    t.log(Object.fromEntries(report.refusals));
  },
);
