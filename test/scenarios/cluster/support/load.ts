// Makes realistic load and records what was acknowledged. Senders behave as mail servers and programs do, each by one way: they try the next
// node when one refuses temporarily or vanishes. Readers behave as clients behind a balancer: they repeat a request elsewhere after a broken
// connection or a 503. Only acknowledged messages and changes count.
import type { ClusterNode } from '../../../../dev/local-node.js';
import type { TestAccount } from '../../../../dev/node-accounts.js';
import { messages } from '../../../support/amounts.js';
import { Mailing } from './mailing.js';
import { type Calls, reader } from './rest-load.js';
import { sender } from './sender.js';
import { WAYS, type WayName } from './ways.js';

/** The load goes to a node, or to a balancer in front of nodes. */
export interface Target extends Pick<ClusterNode, 'name' | 'http' | 'mx'> {
  readonly imap?: string;
  readonly submission?: string;
}

export interface LoadOptions {
  /** Read again at each connection. */
  readonly targets?: () => readonly Target[];
  /** One sender each; default: four by SMTP from other servers, and one by each other way that the first target offers. */
  readonly ways?: readonly WayName[];
  /** Default 2. */
  readonly readers?: number;
  /** In ms, between two messages of a sender while a test waits for the load; default 10. */
  readonly pauseMs?: number;
  /** In ms. A node that is silent for this long counts as gone; default 5,000. */
  readonly answerMs?: number;
  /**
   * In ms. A reader repeats a request for this long, by default as long as a test waits for a state of a cluster: statements wait on dead
   * connections for 15 s, and on a busy machine each answer is later than `answerMs`.
   */
  readonly patienceMs?: number;
  /** Messages that a sender sends to a node before it goes to the next; default 20. */
  readonly perConnection?: number;
}

/** In ms, between two messages of a sender while no test counts them: the nodes have time for what is tested. */
const PATIENT_MS = 3_000;
const ALL_WAYS: readonly WayName[] = ['mx', 'append', 'mx', 'submission', 'mx', 'rest', 'mx'];

export class Load {
  readonly mail = new Mailing();
  readonly calls: Calls = { made: 0, repeated: [], statuses: new Map(), failed: [], read: new Set(), slowestMs: 0 };
  readonly #work: Promise<void>[];
  #stopping = false;
  #awaited = 0;

  constructor(targets: () => readonly Target[], accounts: readonly TestAccount[], options: LoadOptions) {
    const { readers = 2, pauseMs = 10, answerMs = 5_000, patienceMs = 180_000, perConnection = 20 } = options;
    const work = {
      targets,
      accounts,
      pauseMs: () => (this.#awaited > 0 ? pauseMs : Math.max(pauseMs, PATIENT_MS)),
      answerMs,
      patienceMs,
      perConnection,
      stopping: () => this.#stopping,
    };
    const [first] = targets();
    const ways = options.ways ?? ALL_WAYS.filter((way) => WAYS[way].at(first!) !== undefined);
    this.#work = [
      ...ways.map((way, i) => sender(i, way, work, this.mail)),
      ...Array.from({ length: readers }, (_, i) => reader(i, work, this.calls)),
    ];
  }

  /** The number of acknowledged messages so far. */
  get accepted(): number {
    return this.mail.accepted.size;
  }

  /** Resolves when `count` more messages, or the share of them for this run, are acknowledged. */
  async more(count: number, withinMs = 180_000): Promise<void> {
    const [goal, deadline] = [this.accepted + messages(count), Date.now() + withinMs];
    const reached = async () => {
      while (this.accepted < goal) {
        if (Date.now() > deadline) {
          throw new Error(`${goal - this.accepted} of ${count} messages were not accepted: ${this.summary()}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    await this.during(reached());
  }

  /** Senders pause briefly until `work` has ended. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#awaited++;
    try {
      return await work;
    } finally {
      this.#awaited--;
    }
  }

  /** Resolves when every sender and reader has finished its current work. It may be called again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#work);
  }

  /** Returns one line of figures for `t.log`. */
  summary(): string {
    const { mail, calls } = this;
    const codes = new Map<string, number>();
    for (const { code } of mail.temporary) codes.set(code, (codes.get(code) ?? 0) + 1);
    return [
      `mail: ${mail.accepted.size} accepted, refused for now ${told(codes)}, for good ${mail.refused.length}`,
      `${mail.goodbyes} goodbyes, ${mail.interrupted.length} interrupted, ${mail.unreachable.length} unreachable, slowest ${Math.round(mail.slowestMs)} ms`,
      `REST: ${calls.made} calls, statuses ${told(calls.statuses)}, ${calls.repeated.length} repeated, ${calls.failed.length} failed`,
      `slowest ${Math.round(calls.slowestMs)} ms`,
    ].join('; ');
  }
}

function told(counts: ReadonlyMap<number | string, number>): string {
  return counts.size === 0 ? '0' : [...counts].map(([code, count]) => `${code}×${count}`).join(' ');
}
