// One worker thread with a heap and a time budget: runs one job, and is replaced when it dies, takes too long or its job is
// given up.
import { Worker } from 'node:worker_threads';
import type { Bodies } from '../mail/decode/bodies.js';
import type { DecodeAnswer, DecodeJob } from './worker.js';

export interface ThreadLimits {
  readonly heapMb: number;
  readonly jobMs: number;
  /** Compiled module of the worker; tests put in one that misbehaves. */
  readonly module: URL;
}

export class DecodeThread {
  readonly #limits: ThreadLimits;
  #worker: Worker | undefined;
  #settle: ((answer: Bodies | undefined) => void) | undefined;

  constructor(limits: ThreadLimits) {
    this.#limits = limits;
  }

  /** Undefined when the job died, ran out of time or was given up. One job at a time; its octets are the thread's then. */
  run(job: DecodeJob, signal?: AbortSignal): Promise<Bodies | undefined> {
    return new Promise((resolve) => {
      const worker = this.#worker ?? this.#start();
      const stop = () => void this.#stop(worker);
      const timer = setTimeout(stop, this.#limits.jobMs);
      signal?.addEventListener('abort', stop, { once: true });
      this.#settle = (answer) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        this.#settle = undefined;
        // An idle thread keeps no process alive.
        worker.unref();
        resolve(answer);
      };
      worker.ref();
      worker.postMessage(
        job,
        job.parts.map(({ bytes }) => bytes.buffer as ArrayBuffer),
      );
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
    worker.on('message', (answer: DecodeAnswer) => {
      if (this.#worker === worker) this.#settle?.('failed' in answer ? undefined : answer);
    });
    worker.on('error', () => this.#gone(worker));
    worker.on('exit', () => this.#gone(worker));
    return worker;
  }

  async #stop(worker: Worker): Promise<void> {
    this.#gone(worker);
    await worker.terminate();
  }

  #gone(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#settle?.(undefined);
  }
}
