// A client that writes continuously to one account over REST and records when each write began and was acknowledged. A write that is
// refused or interrupted is tried again at once: the time counts during which the account could not be written.
import { Agent, request } from 'node:http';

export interface ProbedAccount {
  readonly id: string;
  readonly key: string;
  /** The id of an email that is marked read and unread in turn. */
  readonly emailId: string;
}

/** Times are in ms of the monotonic clock. */
export interface Write {
  readonly began: number;
  readonly acknowledged: number;
  /** The attempts that were refused or interrupted. */
  readonly failures: number;
}

const RETRY_MS = 5;
const ANSWER_MS = 15_000;
const agent = new Agent({ keepAlive: true });

export class WriteProbe {
  readonly account: ProbedAccount;
  readonly writes: Write[] = [];
  readonly #target: () => string;
  readonly #pauseMs: number;
  #isRead = false;
  #stopped = false;
  #poked = false;
  #wake = () => {};
  readonly #done: Promise<void>;

  /** `target` returns the base URL of the node, and is called for every attempt. */
  constructor(account: ProbedAccount, target: () => string, pauseMs: number) {
    this.account = account;
    this.#target = target;
    this.#pauseMs = pauseMs;
    this.#done = this.#run();
  }

  /** Begins the next write at once, or as soon as the current one is over. */
  poke(): void {
    this.#poked = true;
    this.#wake();
  }

  /** Resolves with the first write that began at `since` or later, when it is acknowledged. */
  async after(since: number): Promise<Write> {
    for (;;) {
      const write = this.writes.find(({ began }) => began >= since);
      if (write !== undefined) return write;
      await pause(1);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.poke();
    await this.#done;
  }

  async #run(): Promise<void> {
    // The probes must not start at the same moment.
    await pause(Math.random() * this.#pauseMs);
    while (!this.#stopped) {
      this.#poked = false;
      await this.#write();
      if (!this.#poked) await this.#rest();
    }
  }

  async #rest(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#pauseMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #write(): Promise<void> {
    const began = performance.now();
    this.#isRead = !this.#isRead;
    for (let failures = 0; ; failures++) {
      const status = await patch(this.#target(), this.account, this.#isRead).catch(() => 0);
      if (status === 204) {
        this.writes.push({ began, acknowledged: performance.now(), failures });
        return;
      }
      if (this.#stopped) return;
      await pause(RETRY_MS);
    }
  }
}

function patch(base: string, { key, emailId }: ProbedAccount, isRead: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(`${base}/api/emails/${emailId}`, {
      method: 'PATCH',
      agent,
      timeout: ANSWER_MS,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    call.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    call.end(JSON.stringify({ isRead }));
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
