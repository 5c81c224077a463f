// Generates random histories of several sessions on one folder. Each session has a client that believes its responses; whenever
// all is quiet and a session has caught up, its client must know the folder as the owner does.
import fc from 'fast-check';
import { flagList } from '../../../../src/gateways/imap/responses/flags.js';
import { flagsResponses, sizeResponses, writeUpdates } from '../../../../src/gateways/imap/responses/updates.js';
import type { Enabled, Session } from '../../../../src/gateways/imap/session.js';
import { ClientView } from '../../../../src/gateways/imap/view/client-view.js';
import { createFolderMirrors } from '../../../../src/gateways/imap/view/folder-mirrors.js';
import type { MirroredFolder } from '../../../../src/gateways/imap/view/mirrored-folder.js';
import { ACCOUNT, changedFlags, type FlagStore, FOLDER, FolderOwner, turns } from './folder-owner.js';
import { ModelClient } from './model-client.js';

const SESSIONS = 4;
const STEPS = [
  'deliver',
  'deliver',
  'store',
  'markDeleted',
  'expunge',
  'noop',
  'fetch',
  'fetch',
  'uidFetch',
  'sessionStore',
  'silentStore',
  'silentUidStore',
  'sessionExpunge',
  'idle',
  'resync',
  'takeOver',
  'interrupt',
  'reselect',
  'skipUids',
  'settle',
] as const;

export interface Step {
  readonly type: (typeof STEPS)[number];
  readonly session: number;
  readonly a: number;
  readonly b: number;
}

export const history = fc.record({
  steps: fc.array(
    fc.record({ type: fc.constantFrom(...STEPS), session: fc.nat(SESSIONS - 1), a: fc.nat(99), b: fc.nat(99) }),
    { minLength: 1, maxLength: 60 },
  ),
  initial: fc.nat(12),
  seed: fc.nat(),
  pageSize: fc.constantFrom(1, 2, 3, 20_000),
});

type History = typeof history extends fc.Arbitrary<infer H> ? H : never;
type ViewClass = new (mirror: MirroredFolder) => ClientView;

const FLAGS: readonly (readonly string[])[] = [['\\Seen'], ['\\Flagged', 'Work'], ['\\Deleted'], ['Home'], []];
const MODES = ['add', 'remove', 'replace'] as const;

/** @throws Error when a client was told anything wrong */
export async function runHistory(
  { steps, initial, seed, pageSize }: History,
  View: ViewClass = ClientView,
): Promise<void> {
  const owner = new FolderOwner();
  owner.deliver(initial);
  owner.delays = randomDelays(seed);
  owner.isHere = seed % 2 === 0;
  const mirrors = createFolderMirrors({ mailboxes: owner.mailboxes, pageSize });
  const open = async () => new View((await mirrors.open(ACCOUNT, FOLDER))!.mirror);
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, async (_, number) => new TestSession(owner, await open(), number)),
  );
  const run = ({ type, session: number, a, b }: Step): unknown => {
    const session = sessions[number]!;
    const change: FlagStore = { mode: MODES[a % 3]!, flags: FLAGS[b % FLAGS.length]! };
    const uids = () => new Set(owner.messages.filter(({ uid }) => (uid * 31 + a) % 3 === 0).map(({ uid }) => uid));
    switch (type) {
      case 'deliver':
        return owner.deliver(1 + (a % 3));
      case 'store':
        return owner.store(uids(), change);
      case 'markDeleted':
        return owner.store(uids(), { mode: 'add', flags: ['\\Deleted'] });
      case 'expunge':
        return owner.expunge();
      case 'noop':
        return session.command(() => undefined, { mayExpunge: true });
      case 'fetch':
        return session.command(() => session.fetch(a, b), { mayExpunge: false });
      case 'uidFetch':
        return session.command(() => session.fetch(a, b), { mayExpunge: true });
      case 'sessionStore':
        return session.command(() => session.store(a, b, change, false), { mayExpunge: false, mustSync: true });
      case 'silentStore':
        return session.command(() => session.store(a, b, change, true), { mayExpunge: false, mustSync: true });
      case 'silentUidStore':
        return session.command(() => session.store(a, b, change, true), { mayExpunge: true, mustSync: true });
      case 'sessionExpunge':
        return session.command(() => owner.expunge(), { mayExpunge: true, mustSync: true });
      case 'idle':
        return session.idle(a);
      case 'resync':
        return void session.view.mirror.sync();
      case 'takeOver':
        return owner.takeOver();
      case 'interrupt':
        return owner.interrupt();
      case 'reselect':
        return session.reselect(open);
      case 'skipUids':
        return owner.skipUids(1 + a);
      case 'settle':
        return settle(sessions, owner);
    }
  };
  for (const step of steps) {
    const done = run(step);
    if (step.type === 'settle') await done;
    // Commands of several sessions run at the same time.
    await turns(step.b % 7);
  }
  await settle(sessions, owner);
}

/** Waits until all is quiet; then each client must know everything. */
async function settle(sessions: readonly TestSession[], owner: FolderOwner): Promise<void> {
  for (const session of sessions) await session.done();
  for (const session of sessions) await session.command(() => undefined, { mayExpunge: true, mustSync: true });
  for (const session of sessions) session.compare(owner);
}

class TestSession {
  view: ClientView;
  client = new ModelClient();
  readonly #owner: FolderOwner;
  readonly #enabled: ReadonlySet<Enabled>;
  /** Resolves when the commands so far have ended. */
  #last: Promise<void> = Promise.resolve();

  constructor(owner: FolderOwner, view: ClientView, number: number) {
    this.#owner = owner;
    this.view = view;
    this.#enabled = new Set(number % 2 === 0 ? [] : ['CONDSTORE', 'IMAP4REV2']);
    this.#begin();
  }

  /** Resolves when all commands so far have ended. */
  done(): Promise<void> {
    return this.#last;
  }

  /** Runs a command after the previous ones, as the dispatcher does. */
  command(
    run: () => unknown,
    { mayExpunge, mustSync = false }: { mayExpunge: boolean; mustSync?: boolean },
  ): Promise<void> {
    return this.#next(async () => {
      const { mirror } = this.view;
      if (mirror.isStale) await mirror.sync();
      this.client.isHolding = !mayExpunge;
      await run();
      if (mirror.isStale || (mustSync && !mirror.isCurrent)) await mirror.sync();
      this.#update(mayExpunge);
      this.client.isHolding = false;
    });
  }

  /** Runs FETCH of FLAGS and UID for some messages, by the client's numbers. */
  fetch(a: number, b: number): void {
    const positions = this.#positions(a, b);
    let text = '';
    const uids: number[] = [];
    for (const position of positions) {
      const index = this.view.indexAt(position);
      const uid = this.view.uidAt(position);
      const known = this.client.messages[position]!;
      if (known.uid !== undefined && known.uid !== uid) throw new Error(`${position + 1} is not UID ${uid}`);
      known.uid = uid;
      if (index === -1) continue;
      for (const name of this.view.mirror.keywordsAt(index)) this.client.receive(`* FLAGS (${this.#flagNames(name)})`);
      text += `* ${position + 1} FETCH (UID ${uid} FLAGS ${flagList(this.view.mirror, index)})\r\n`;
      uids.push(uid);
    }
    this.client.receive(text);
    this.view.markFlagsSent(uids);
  }

  async store(a: number, b: number, change: FlagStore, isSilent: boolean): Promise<void> {
    const positions = this.#positions(a, b);
    const uids = positions.map((position) => this.view.uidAt(position));
    const { mirror } = this.view;
    const told = isSilent ? this.view.expectFlags(uids, change) : undefined;
    const since = mirror.modseq;
    await turns(this.#owner.delays());
    const present = new Set(this.#owner.messages.map(({ uid }) => uid));
    const modseqs = this.#owner.store(new Set(uids), change);
    await turns(this.#owner.delays());
    // The reply to a STORE with UNCHANGEDSINCE does not tell the spelling of keywords.
    const keywords = change.flags.filter((name) => !name.startsWith('\\'));
    const isConditional = this.#owner.delays() % 3 === 0;
    const stored = { ...change, keywords: isConditional ? undefined : keywords };
    const isAccepted = mirror.takeFlags(uids, stored, modseqs);
    if (!isAccepted) await mirror.sync();
    await turns(this.#owner.delays());
    told?.(isAccepted && modseqs.before === since && modseqs.after === mirror.modseq);
    if (!isSilent) return;
    for (const position of positions) {
      const known = this.client.messages[position]!;
      if (known.flags !== undefined && present.has(this.view.uidAt(position)))
        known.flags = changedFlags(known.flags, change);
    }
  }

  /** Tells changes as they arrive, for `length` turns. */
  idle(length: number): Promise<void> {
    return this.#next(async () => {
      const unwatch = this.view.mirror.watch(() => this.#update(true));
      this.#update(true);
      await turns(length);
      unwatch();
    });
  }

  reselect(open: () => Promise<ClientView>): Promise<void> {
    return this.#next(async () => {
      this.view.close();
      this.view = await open();
      this.client = new ModelClient();
      this.#begin();
    });
  }

  /** The client must know the owner's messages, and the flags that it was told. */
  compare({ messages }: FolderOwner): void {
    if (this.client.messages.length !== messages.length) {
      throw new Error(`the client counts ${this.client.messages.length} of ${messages.length}`);
    }
    this.client.messages.forEach(({ uid, flags }, i) => {
      const truth = messages[i]!;
      if (this.view.uidAt(i) !== truth.uid) throw new Error(`${i + 1} is UID ${truth.uid}, not ${this.view.uidAt(i)}`);
      if (uid !== undefined && uid !== truth.uid)
        throw new Error(`${i + 1} is UID ${truth.uid}, the client knows ${uid}`);
      if (flags !== undefined && textOf(flags) !== textOf(truth.flags)) {
        throw new Error(`UID ${truth.uid} has ${textOf(truth.flags)}, the client knows ${textOf(flags)}`);
      }
    });
    if (this.view.hasExpunged) throw new Error('an expunge is held back though it may be told');
    if (this.view.mirror.uids.length > 0 && messages.length === this.view.mirror.count) this.#checkShared();
  }

  #checkShared(): void {
    for (let i = 0; i < this.view.count; i++)
      if (this.view.indexAt(i) !== i) throw new Error(`${i} is elsewhere in the mirror`);
  }

  #begin(): void {
    this.client.receive(flagsResponses(this.view.mirror, false) + sizeResponses(this.view.count, false));
    // The client knows half of the messages from the beginning.
    for (let position = 0; position < this.view.count; position += 2) this.#learn(position);
  }

  #learn(position: number): void {
    const known = this.client.messages[position]!;
    known.uid = this.view.uidAt(position);
    known.flags = flagsOf(flagList(this.view.mirror, this.view.indexAt(position)));
  }

  #flagNames(name: string): string {
    return `\\Seen \\Flagged \\Deleted Work Home ${name}`;
  }

  /** Returns some positions, by a range of sequence numbers. */
  #positions(a: number, b: number): number[] {
    const { count } = this.view;
    if (count === 0) return [];
    return [...this.view.resolve([[1 + (a % count), 1 + (b % count)]], false, [])];
  }

  #update(mayExpunge: boolean): void {
    let text = '';
    const output = {
      write(octets: string | Uint8Array) {
        text += octets;
      },
    };
    writeUpdates({ selected: { view: this.view }, output, enabled: this.#enabled } as unknown as Session, mayExpunge);
    this.client.receive(text);
  }

  #next(run: () => Promise<void>): Promise<void> {
    const done = this.#last.then(run);
    this.#last = done;
    // The next command, or the end of the history, reports the failure.
    done.catch(() => {});
    return done;
  }
}

const flagsOf = (list: string): ReadonlySet<string> =>
  new Set(
    list
      .slice(1, -1)
      .split(' ')
      .filter((flag) => flag !== ''),
  );

const textOf = (flags: ReadonlySet<string>): string => `(${[...flags].sort().join(' ')})`;

/** Returns small numbers, which are the same for the same seed. */
function randomDelays(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 6;
  };
}
