// Inline messages: this node has received them but not stored them. The mailbox that accepts one stores the octets and the email in one
// commit (docs/decisions/0055). An inline message never leaves the node: packets carry only its id. The component that adds it revokes it
// in the end, and then learns whether the message is committed.
import { LRUCache } from 'lru-cache';
import type { MessageSummary } from '../../mail/summary.js';
import { areSmall, type BlobContent, isSmall } from '../../store/blobs.js';
import { StoreFault } from '../../store/errors.js';
import type { InboundDelivery, InboundEnvelope } from '../../store/inbound.js';
import { type SharedDelivery, SharedMessage } from '../../store/shared-message.js';
import { atMost } from '../../work/time-bounds.js';

/** A mailbox that takes longer, because it must be loaded or is busy, gets the message from the store. */
export const INLINE_MS = 1000;
/** How long a mailbox that had to read a body gets no inline messages: each declined message costs a round trip to the store. */
const DECLINED_MS = 60_000;
/** The most mailboxes that are remembered as declining. */
const MOST_DECLINING = 10_000;
/** Octets of a message that weigh as much as a command that changes one email. */
const OCTETS_OF_A_WEIGHT = 1_000;

export interface UnstoredMessage {
  /** Stays readable until the inline message is revoked. */
  readonly content: BlobContent;
  readonly summary: MessageSummary;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** True for suspect mail: it goes to Junk. */
  readonly isJunk?: boolean;
}

type Ending<R> =
  | { readonly kind: 'committed'; readonly result: R }
  | { readonly kind: 'released' }
  /** It is unknown whether the commit happened. */
  | { readonly kind: 'failed'; readonly fault: StoreFault };

/** `R`: the result of the command that accepts the message. */
export class InlineMessage<R = unknown> {
  readonly message: UnstoredMessage;
  /** Messages that are accepted together with it, or not at all. */
  readonly others: readonly UnstoredMessage[];
  /** This mailbox's share of a message for several mailboxes. */
  readonly shared: SharedDelivery | undefined;
  readonly #revoked: () => void;
  #state: 'open' | 'accepted' | Ending<R> = 'open';
  #ended: ((ending: Ending<R>) => void) | undefined;

  constructor(
    message: UnstoredMessage,
    withdrawn: () => void,
    { shared, others = [] }: { readonly shared?: SharedDelivery; readonly others?: readonly UnstoredMessage[] } = {},
  ) {
    this.message = message;
    this.others = others;
    this.#revoked = withdrawn;
    this.shared = shared;
  }

  get contents(): readonly BlobContent[] {
    return [this.message, ...this.others].map(({ content }) => content);
  }

  /** Whether a commit that accepts the message may begin. */
  get isOpen(): boolean {
    return this.#state === 'open' && this.shared?.message.isClosed !== true;
  }

  get isCommitted(): boolean {
    return typeof this.#state === 'object' && this.#state.kind === 'committed';
  }

  /** Called when a commit that accepts the message begins. */
  accept(): void {
    if (!this.isOpen) throw new Error('the inline message is not open');
    this.#state = 'accepted';
  }

  committed(result: R): void {
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
  async revoke(): Promise<{ readonly result: R } | undefined> {
    this.#revoked();
    const ending = await this.#ending();
    if (ending.kind === 'failed') throw ending.fault;
    return ending.kind === 'committed' ? { result: ending.result } : undefined;
  }

  /** Revokes the inline message when the mailbox has answered, whatever the answer is, or after `INLINE_MS`. */
  async revokeAfter(asked: Promise<unknown>): ReturnType<InlineMessage<R>['revoke']> {
    try {
      await atMost(asked, INLINE_MS);
    } catch {
      // `revoke` reports the result, so the error is not needed.
    }
    return this.revoke();
  }

  #ending(): Ending<R> | Promise<Ending<R>> {
    if (typeof this.#state === 'object') return this.#state;
    if (this.#state === 'accepted') {
      return new Promise((resolve) => {
        this.#ended = resolve;
      });
    }
    this.#state = { kind: 'released' };
    return this.#state;
  }

  #end(ending: Ending<R>): void {
    // The message may be accepted again, unless it is being revoked.
    this.#state = ending.kind === 'released' && this.#ended === undefined ? 'open' : ending;
    this.#ended?.(ending);
  }
}

/** An inline message for mailboxes of several accounts. */
export interface SharedInlineMessage<R> {
  readonly message: SharedMessage;
  /** Keyed by delivery id. Accounts whose mailboxes are on other nodes or are declining have no entry. */
  readonly inlineMessages: ReadonlyMap<string, InlineMessage<R>>;
}

export class InlineMessages {
  readonly #owns: (accountId: string) => boolean;
  readonly #inlineMessages = new Map<string, InlineMessage>();
  /** Accounts whose mailboxes have declined an inline message and get none for a while. */
  readonly #declined = new LRUCache<string, true>({ max: MOST_DECLINING, ttl: DECLINED_MS });

  /** `owns`: whether this node owns the account's mailbox; a change of ownership before the commit does no harm. */
  constructor(owns: (accountId: string) => boolean) {
    this.#owns = owns;
  }

  /**
   * Undefined when the message must be stored first. The caller revokes the inline message. `id`: a UUID. `R`: the result of the command
   * that the caller sends to the mailbox. `others`: messages that are accepted together with it.
   */
  add<R>(
    accountId: string,
    id: string,
    message: UnstoredMessage,
    others: readonly UnstoredMessage[] = [],
  ): InlineMessage<R> | undefined {
    const areFit = areSmall([message, ...others].map(({ content }) => content));
    return areFit ? this.#add(accountId, id, message, { others }) : undefined;
  }

  /**
   * Adds a message for several accounts, under the ids of their deliveries. Undefined when it must be stored first. The caller revokes the
   * inline messages and then closes the message.
   */
  share<R>(
    message: UnstoredMessage,
    envelope: InboundEnvelope,
    deliveries: readonly InboundDelivery[],
  ): SharedInlineMessage<R> | undefined {
    if (!isSmall(message.content)) return undefined;
    const shared = new SharedMessage(message.content, envelope, deliveries);
    const inlineMessages = new Map<string, InlineMessage<R>>();
    for (const { accountId, id } of deliveries) {
      const inlineMessage = this.#add<R>(accountId, id, message, { shared: { message: shared, id } });
      if (inlineMessage !== undefined) inlineMessages.set(id, inlineMessage);
    }
    return inlineMessages.size === 0 ? undefined : { message: shared, inlineMessages };
  }

  #add<R>(
    accountId: string,
    id: string,
    message: UnstoredMessage,
    more: ConstructorParameters<typeof InlineMessage>[2],
  ): InlineMessage<R> | undefined {
    if (!this.#owns(accountId) || this.#declined.has(accountId)) return undefined;
    const inlineMessage = new InlineMessage<R>(message, () => this.#inlineMessages.delete(id), more);
    this.#inlineMessages.set(id, inlineMessage as InlineMessage);
    return inlineMessage;
  }

  find(id: string): InlineMessage | undefined {
    return this.#inlineMessages.get(id);
  }

  /**
   * Called when the mailbox declines an inline message because its filters must read bodies from the store: it would decline the next ones
   * too.
   */
  decline(accountId: string): void {
    this.#declined.set(accountId, true);
  }

  /** The weight of the messages that a command accepts: one statement writes them all. 0 for other commands. */
  weightOf(payload: unknown): number {
    const { inlineId } = payload as { readonly inlineId?: string };
    const inlineMessage = inlineId === undefined ? undefined : this.#inlineMessages.get(inlineId);
    if (inlineMessage === undefined) return 0;
    return inlineMessage.contents.reduce(
      (sum, { size }) => sum + size / OCTETS_OF_A_WEIGHT,
      inlineMessage.others.length,
    );
  }
}
