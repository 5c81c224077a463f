// An inline message: open until a commit accepts it, then committed, open again or unknown. The component that adds it revokes it in the end.
import { StoreFault } from '../errors.js';
import { newId } from '../ids/new-id.js';
import type { SharedDelivery } from './shared-message.js';
import type { UnstoredMessage } from './unstored-message.js';

type Ending =
  | { readonly kind: 'committed'; readonly result: unknown }
  | { readonly kind: 'released' }
  /** It is unknown whether the commit happened. */
  | { readonly kind: 'failed'; readonly fault: StoreFault };

export class InlineMessage {
  readonly id: string;
  /** Its content stays readable until the inline message is revoked. */
  readonly message: UnstoredMessage;
  /** This mailbox's share of a message for several mailboxes. */
  readonly shared: SharedDelivery | undefined;
  /** Another node has sent it with a command, and may store it when it hears of no commit. */
  readonly isCarried: boolean;
  readonly #revoked: () => void;
  #state: 'open' | 'accepted' | Ending = 'open';
  #ended: ((ending: Ending) => void) | undefined;

  /** `carriedId`: the id that the other node has given it. */
  constructor(message: UnstoredMessage, revoked: () => void, shared?: SharedDelivery, carriedId?: string) {
    this.id = carriedId ?? newId();
    this.message = message;
    this.#revoked = revoked;
    this.shared = shared;
    this.isCarried = carriedId !== undefined;
  }

  /** Whether a commit that accepts the message may begin. */
  get isOpen(): boolean {
    return this.#state === 'open' && this.shared?.message.isClosed !== true;
  }

  /** The reply of the command whose commit has accepted the message. */
  get result(): { readonly result: unknown } | undefined {
    return typeof this.#state === 'object' && this.#state.kind === 'committed' ? this.#state : undefined;
  }

  /** Called when a commit that accepts the message begins. */
  accept(): void {
    if (!this.isOpen) throw new Error('the inline message is not open');
    this.#state = 'accepted';
  }

  committed(result: unknown): void {
    this.#end({ kind: 'committed', result });
  }

  /** Called when the commit has written nothing. */
  released(): void {
    this.#end({ kind: 'released' });
  }

  /** Called when the commit has failed. A fault that is an answer of the database means that nothing is written. */
  failed(error: unknown): void {
    const fault =
      error instanceof StoreFault ? error : new StoreFault('store-failed', String(error), { temporary: true });
    this.#end(fault.isUndecided ? { kind: 'failed', fault } : { kind: 'released' });
  }

  /**
   * Prevents further commits of the message, and waits for a running one. Resolves with undefined when nothing of the message is committed.
   * @throws StoreFault when that is unknown
   */
  async revoke(): Promise<{ readonly result: unknown } | undefined> {
    this.#revoked();
    const ending = await this.#ending();
    if (ending.kind === 'failed') throw ending.fault;
    return ending.kind === 'committed' ? { result: ending.result } : undefined;
  }

  #ending(): Ending | Promise<Ending> {
    if (typeof this.#state === 'object') return this.#state;
    if (this.#state === 'accepted') {
      return new Promise((resolve) => {
        this.#ended = resolve;
      });
    }
    this.#state = { kind: 'released' };
    return this.#state;
  }

  #end(ending: Ending): void {
    // The message may be accepted again, unless it is being revoked.
    this.#state = ending.kind === 'released' && this.#ended === undefined ? 'open' : ending;
    this.#ended?.(ending);
  }
}
