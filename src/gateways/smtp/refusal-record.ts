// Records refused mail for `mansio trace`: what was refused within a second is written together. A network may fill only a part of that, and
// what is beyond the bounds stands in the log alone. Nothing waits for the record.
import type { Logger } from 'pino';
import type { SMTPServerSession } from 'smtp-server';
import { networkOf } from '../../net/tcp/ip-address.js';
import { clock } from '../../store/clock.js';
import type { RefusalStore, RefusedMail } from '../../store/traces/refused-mail.js';

export interface RefusalRecordOptions {
  readonly store: Pick<RefusalStore, 'add'>;
  /** The name of this node. */
  readonly node: string;
  readonly log: Pick<Logger, 'warn'>;
}

/** Refusals of one second, of all and of one network. */
const MOST = 200;
const MOST_OF_NETWORK = 10;
const TOGETHER_MS = 1_000;
const MOST_RECIPIENTS = 10;
/** Characters of a text that a peer chose. */
const LONGEST = 320;

/** `recipients`: those of the message, or the one that was refused. */
export type NewRefusal = Pick<RefusedMail, 'listener' | 'code' | 'reason' | 'recipients'> &
  Partial<Pick<RefusedMail, 'transaction' | 'messageId'>>;

export class RefusalRecord {
  readonly #options: RefusalRecordOptions;
  readonly #byNetwork = new Map<string, number>();
  #waiting: RefusedMail[] = [];
  #timer: NodeJS.Timeout | undefined;
  #write: Promise<void> = Promise.resolve();

  constructor(options: RefusalRecordOptions) {
    this.#options = options;
  }

  add({ remoteAddress, envelope: { mailFrom } }: SMTPServerSession, refused: NewRefusal): void {
    const network = networkOf(remoteAddress);
    const ofNetwork = this.#byNetwork.get(network) ?? 0;
    if (this.#waiting.length >= MOST || ofNetwork >= MOST_OF_NETWORK) return;
    this.#byNetwork.set(network, ofNetwork + 1);
    const { recipients, transaction = null, messageId = null, ...rest } = refused;
    this.#waiting.push({
      at: clock.now(),
      node: this.#options.node,
      remoteAddress,
      sender: mailFrom ? storable(mailFrom.address) || null : null,
      recipients: recipients.slice(0, MOST_RECIPIENTS).map(storable),
      transaction,
      messageId: messageId === null ? null : storable(messageId),
      ...rest,
    });
    this.#timer ??= setTimeout(() => this.#flush(), TOGETHER_MS).unref();
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    this.#flush();
    await this.#write;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const refusals = this.#waiting;
    this.#waiting = [];
    this.#byNetwork.clear();
    if (refusals.length === 0) return;
    const { store, log } = this.#options;
    this.#write = store.add(refusals).catch((error: unknown) => {
      log.warn({ err: error, count: refusals.length }, 'refusals were not recorded');
    });
  }
}

/** The database takes no NUL and no half of a character. */
function storable(text: string): string {
  return Buffer.from(text.slice(0, LONGEST)).toString().replaceAll('\0', '');
}
