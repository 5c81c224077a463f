// Stores the positions that consumers have reached: one statement per kind at a time, with all positions that arrived during the previous
// one. Repeats until the store answers, because an event is delivered twice if its position is not stored.
import type { Logger } from 'pino';
import { pause } from '../../concurrency/time-bounds.js';
import type { ConsumerAdvance, ConsumerKind, ConsumerStore } from '../../store/consumers.js';

const MOST_OF_A_STATEMENT = 500;
const RETRY_MS = 500;

interface Waiting {
  readonly advance: ConsumerAdvance;
  answer(isAdvanced: boolean): void;
}

interface Queue {
  readonly waiting: Waiting[];
  isWriting: boolean;
}

export class PositionWriter {
  readonly #store: Pick<ConsumerStore, 'advance'>;
  readonly #log: Logger;
  readonly #queues = new Map<ConsumerKind, Queue>();
  #isStopped = false;

  constructor(store: Pick<ConsumerStore, 'advance'>, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** Resolves with false when the row has another position, or when the writer is stopped before the store answers. */
  advance(kind: ConsumerKind, advance: ConsumerAdvance): Promise<boolean> {
    let queue = this.#queues.get(kind);
    if (queue === undefined) {
      queue = { waiting: [], isWriting: false };
      this.#queues.set(kind, queue);
    }
    const { waiting, isWriting } = queue;
    return new Promise((answer) => {
      waiting.push({ advance, answer });
      if (!isWriting) void this.#write(kind, queue);
    });
  }

  /** Ends the repetitions: a position that the store does not accept now is not stored. */
  stop(): void {
    this.#isStopped = true;
  }

  async #write(kind: ConsumerKind, queue: Queue): Promise<void> {
    queue.isWriting = true;
    while (queue.waiting.length > 0) {
      const group = queue.waiting.splice(0, MOST_OF_A_STATEMENT);
      const advanced = await this.#advanced(
        kind,
        group.map(({ advance }) => advance),
      );
      for (const { advance, answer } of group) answer(advanced.has(advance.id));
    }
    queue.isWriting = false;
  }

  async #advanced(kind: ConsumerKind, advances: readonly ConsumerAdvance[]): Promise<ReadonlySet<string>> {
    for (;;) {
      try {
        return await this.#store.advance(kind, advances);
      } catch (err) {
        this.#log.warn({ kind, consumers: advances.length, err }, 'positions of consumers could not be stored');
        if (this.#isStopped) return new Set();
        await pause(RETRY_MS);
      }
    }
  }
}
