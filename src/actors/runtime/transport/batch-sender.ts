// Sends packets in batches: what goes to one subject in one turn of the event loop leaves as one message of the bus. A batch leaves earlier
// when it is full, and a packet that is alone in its turn does not wait for others.
import { PacketBatch, type PacketText } from './packet-batch.js';
import type { TurnEnd } from './turn-end.js';

export interface BatchSenderOptions {
  /** Publishes a batch. Must not throw. */
  publish(subject: string, bytes: Uint8Array, batch: number): void;
  /** The most octets of a message of the bus. */
  capacity(): number;
  readonly turnEnd: TurnEnd;
}

interface OpenBatch {
  readonly number: number;
  readonly packets: PacketBatch;
}

const MAX_PACKETS = 256;
/** A larger packet is alone in its batch. */
const MAX_OCTETS = 256 * 1024;

export class BatchSender {
  readonly #options: BatchSenderOptions;
  /** The key is the subject. */
  readonly #open = new Map<string, OpenBatch>();
  #newest = 0;

  constructor(options: BatchSenderOptions) {
    this.#options = options;
  }

  /** Returns the number of the batch that the packet is in; each batch of this sender has its own. */
  send(subject: string, tag: number, packet: PacketText): number {
    const joined = this.#open.get(subject);
    if (joined !== undefined && this.#hasRoom(joined, packet)) {
      joined.packets.add(tag, packet);
      return joined.number;
    }
    if (joined !== undefined) this.#publish(subject, joined);
    const opened: OpenBatch = { number: ++this.#newest, packets: new PacketBatch() };
    opened.packets.add(tag, packet);
    if (this.#open.size === 0) this.#options.turnEnd.add(() => this.#flush());
    this.#open.set(subject, opened);
    return opened.number;
  }

  /** Drops what waits for the end of the turn. */
  drop(): void {
    this.#open.clear();
  }

  #flush(): void {
    const batches = [...this.#open];
    this.#open.clear();
    for (const [subject, batch] of batches) this.#publish(subject, batch);
  }

  #hasRoom({ packets }: OpenBatch, packet: PacketText): boolean {
    const most = Math.min(MAX_OCTETS, this.#options.capacity());
    return packets.count < MAX_PACKETS && packets.lengthWith(packet) <= most;
  }

  #publish(subject: string, { number, packets }: OpenBatch): void {
    this.#options.publish(subject, packets.bytes(), number);
  }
}
