// Sends emails at a steady rate, each with its number in the subject, and records when the node accepted each.
import { ownCpuSeconds } from '../support/cpu-time.js';
import type { BenchAccount } from '../support/node.js';
import { pause } from '../support/write-probe.js';
import type { Target } from './target.js';

const SENDERS = 8;

export class EmailStream {
  /** The moment of the 250 by the number of the email, in ns of the monotonic clock. */
  readonly accepted: bigint[] = [];
  readonly #target: Target;
  readonly #aSecond: number;
  readonly #emails: number;
  readonly #recipient: (i: number) => BenchAccount;
  #cpuBefore = 0;

  constructor(target: Target, aSecond: number, seconds: number, recipient: (i: number) => BenchAccount) {
    this.#target = target;
    this.#aSecond = aSecond;
    this.#emails = aSecond * seconds;
    this.#recipient = recipient;
  }

  /** Resolves when the last email is accepted. */
  async run(): Promise<void> {
    const senders = await Promise.all(Array.from({ length: SENDERS }, () => this.#target.sender()));
    this.#cpuBefore = await ownCpuSeconds(this.#target.pid);
    const began = performance.now();
    let next = 0;
    await Promise.all(
      senders.map(async (sender) => {
        while (next < this.#emails) {
          const i = next++;
          await pause(Math.max(0, began + (i * 1000) / this.#aSecond - performance.now()));
          this.accepted[i] = await this.#target.deliver(sender, this.#recipient(i), `#${i}`);
        }
      }),
    );
    for (const sender of senders) sender.close();
  }

  /** Returns the ms from the 250 to each arrival. */
  latencies(arrivals: readonly (readonly [number: number, ns: bigint])[]): number[] {
    return arrivals.map(([i, ns]) => Number(ns - this.accepted[i]!) / 1e6);
  }

  /** Returns the processor time of the node's process since the first email, in µs per email. */
  async cost(): Promise<number> {
    return (((await ownCpuSeconds(this.#target.pid)) - this.#cpuBefore) / this.#emails) * 1e6;
  }
}
