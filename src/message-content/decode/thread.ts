// One worker thread with a limited heap and a time budget. It runs one job at a time. It is replaced when it dies, when a job
// takes too long, and when a job is abandoned.
import { Worker } from 'node:worker_threads';
import type { Bodies } from '../../mail-format/decode/bodies.js';
import type { DecodeJob, WorkerMessage } from './worker.js';

export interface ThreadLimits {
  readonly heapMb: number;
  /** Time to load the code, which takes about 100 ms on an idle processor. */
  readonly startMs: number;
  /** Compiled module of the worker; tests pass one that misbehaves. */
  readonly module: URL;
}

export interface JobOptions {
  /** Time for the job, counted from when the thread has loaded its code. */
  readonly ms: number;
  /** The octets are transferred to the thread, so the caller loses them; otherwise they are copied. */
  readonly movesOctets: boolean;
  readonly signal?: AbortSignal | undefined;
}

export class DecodeThread {
  readonly #limits: ThreadLimits;
  #worker: Worker | undefined;
  #isReady = false;
  #onReady: (() => void) | undefined;
  #settle: ((answer: Bodies | undefined) => void) | undefined;

  constructor(limits: ThreadLimits) {
    this.#limits = limits;
  }

  /** Returns undefined when the thread died, the time ran out or the job was abandoned. The caller runs one job at a time. */
  run(job: DecodeJob, { ms, movesOctets, signal }: JobOptions): Promise<Bodies | undefined> {
    return new Promise((resolve) => {
      const worker = this.#worker ?? this.#start();
      const stop = () => void this.#stop(worker);
      let timer = setTimeout(stop, this.#isReady ? ms : this.#limits.startMs);
      this.#onReady = () => {
        clearTimeout(timer);
        timer = setTimeout(stop, ms);
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#settle = (answer) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        this.#settle = undefined;
        this.#onReady = undefined;
        // An idle thread must not keep the process alive.
        worker.unref();
        resolve(answer);
      };
      worker.ref();
      worker.postMessage(job, movesOctets ? job.parts.map(({ bytes }) => bytes.buffer as ArrayBuffer) : []);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker !== undefined) await this.#stop(worker);
  }

  #start(): Worker {
    const { heapMb, module } = this.#limits;
    const worker = new Worker(module, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
      env: {},
      stdin: false,
    });
    this.#worker = worker;
    this.#isReady = false;
    worker.on('message', (message: WorkerMessage) => {
      if (this.#worker !== worker) return;
      if (message === 'ready') {
        this.#isReady = true;
        this.#onReady?.();
      } else this.#settle?.('failed' in message ? undefined : message);
    });
    worker.on('error', () => this.#forget(worker));
    worker.on('exit', () => this.#forget(worker));
    return worker;
  }

  async #stop(worker: Worker): Promise<void> {
    this.#forget(worker);
    await worker.terminate();
  }

  #forget(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#settle?.(undefined);
  }
}
