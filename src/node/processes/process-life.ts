// One life of one process, as its parent sees it: it starts, is ready, answers, stops, ends.
import cluster, { type Worker } from 'node:cluster';
import { atMost } from '../../concurrency/time-bounds.js';
import type {
  Answers,
  FailedMessage,
  PresentMessage,
  ReadyMessage,
  StartMessage,
  ToParent,
  ToProcess,
} from './messages.js';

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** The message of the process about its failure. */
  readonly failure: FailedMessage | undefined;
}

/** The process has ended before it was ready. */
export class NeverReady extends Error {
  override readonly name = 'NeverReady';
  readonly ending: Ending;

  constructor(number: number, ending: Ending) {
    super(`process ${number} ended (${ending.signal ?? ending.code}) before it was ready`);
    this.ending = ending;
  }
}

const ANSWER_MS = 4_000;
/** Shortages of the system, after which a process may be created later. */
const SHORTAGES: readonly unknown[] = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'];

export class ProcessLife {
  readonly pid: number;
  /** @throws NeverReady */
  readonly ready: Promise<ReadyMessage>;
  readonly ended: Promise<Ending>;
  readonly #worker: Worker;
  readonly #signalled: () => void;
  readonly #answers = new Map<number, (answer: Answers[keyof Answers] | undefined) => void>();
  #asked = 0;
  #failure: FailedMessage | undefined;
  #readyAt: number | undefined;
  #hasEnded = false;
  #isStopping = false;

  /** `signalled`: called when somebody has sent the process a signal to end. */
  constructor(start: StartMessage, signalled: () => void) {
    this.#signalled = signalled;
    const worker = cluster.fork();
    this.#worker = worker;
    this.pid = worker.process.pid ?? 0;
    this.ended = new Promise((resolve) => {
      worker.once('exit', (code, signal) => resolve(this.#end(code, signal)));
      worker.on('error', (error: NodeJS.ErrnoException) => {
        // Otherwise the message did not reach a process that has just ended; its end is reported separately.
        if (worker.process.pid !== undefined) return;
        this.#failure ??= notMade(error);
        resolve(this.#end(null, null));
      });
    });
    const isReady = new Promise<ReadyMessage>((resolve) => {
      worker.on('message', (message: ToParent) => {
        if (message.kind === 'ready') {
          this.#readyAt = performance.now();
          resolve(message);
        } else if (message.kind === 'present') this.#present(start);
        else this.#hear(message);
      });
    });
    const never = this.ended.then((ending): never => {
      throw new NeverReady(start.processShare.number, ending);
    });
    this.ready = Promise.race([isReady, never]);
    this.ready.catch(() => {});
  }

  get isReady(): boolean {
    return this.#readyAt !== undefined && !this.#hasEnded && !this.#isStopping;
  }

  /** The process was told to stop. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** The time since the process was ready; undefined when it never was. */
  get readyMs(): number | undefined {
    return this.#readyAt === undefined ? undefined : performance.now() - this.#readyAt;
  }

  /** Undefined when the process does not answer in time. */
  async ask<K extends keyof Answers>(about: K): Promise<Answers[K] | undefined> {
    if (this.#hasEnded) return undefined;
    const id = ++this.#asked;
    const answer = new Promise<Answers[keyof Answers] | undefined>((resolve) => {
      this.#answers.set(id, resolve);
    });
    this.#say({ kind: 'ask', id, about });
    const isAnswered = await atMost(answer, ANSWER_MS);
    this.#answers.delete(id);
    return isAnswered ? ((await answer) as Answers[K] | undefined) : undefined;
  }

  /** Drains the process, and kills it when that takes longer than `withinMs`. */
  async stop(portsStay: boolean, withinMs: number): Promise<Ending> {
    this.#isStopping = true;
    this.#say({ kind: 'stop', portsStay });
    if (!(await atMost(this.ended, withinMs))) this.kill();
    return this.ended;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #say(message: ToProcess): void {
    if (this.#worker.isConnected()) this.#worker.send(message, () => {});
  }

  #present(start: StartMessage): void {
    if (this.#isStopping) this.kill();
    else this.#say(start);
  }

  #hear(message: Exclude<ToParent, PresentMessage | ReadyMessage>): void {
    if (message.kind === 'failed') this.#failure = message;
    else if (message.kind === 'signalled') this.#signalled();
    else this.#answers.get(message.id)?.(message.answer);
  }

  #end(code: number | null, signal: string | null): Ending {
    this.#hasEnded = true;
    for (const answer of this.#answers.values()) answer(undefined);
    return { code, signal: signal || null, failure: this.#failure };
  }
}

/** A process that was never created has no exit either. */
function notMade({ message, code }: NodeJS.ErrnoException): FailedMessage {
  return {
    kind: 'failed',
    message: `no process can be made: ${message}`,
    isTemporary: SHORTAGES.includes(code),
    isFinal: false,
  };
}
