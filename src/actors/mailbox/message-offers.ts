// Messages that this node has received and has not stored: the mailbox that takes one stores the octets with the email, by one
// commit (docs/decisions/0055). An offer never leaves the node: a packet carries its id alone. Who made the offer withdraws it
// in the end, and learns then whether the message is committed.
import { atMost } from '../../bounds/time-bounds.js';
import type { MessageSummary } from '../../mail/summary.js';
import { areSmall, type BlobContent, isSmall } from '../../store/blobs.js';
import { StoreFault } from '../../store/errors.js';
import type { InboundDelivery, InboundEnvelope } from '../../store/inbound.js';
import { type SharedDelivery, SharedMessage } from '../../store/shared-message.js';

/** A mailbox that takes longer, because it has to be loaded or has much to do, gets the message from the store. */
export const OFFER_MS = 1000;
/** How long a mailbox that had to read a body is offered nothing: each offer that it leaves costs a round trip to the store. */
const LEFT_MS = 60_000;
/** Mailboxes of which that is known. */
const MOST_LEFT = 10_000;
/** Octets of a message that weigh as much as a command that changes one email. */
const OCTETS_OF_A_WEIGHT = 1_000;

export interface OfferedMessage {
  /** Stays readable until the offer is withdrawn. */
  readonly content: BlobContent;
  readonly summary: MessageSummary;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** Suspect: it goes to Junk. */
  readonly isJunk?: boolean;
}

type Ending<R> =
  | { readonly kind: 'committed'; readonly result: R }
  | { readonly kind: 'released' }
  /** Whether the commit happened is not known. */
  | { readonly kind: 'failed'; readonly fault: StoreFault };

/** `R`: what the command that takes the message comes to. */
export class MessageOffer<R = unknown> {
  readonly message: OfferedMessage;
  /** Messages that are taken with it, or not at all. */
  readonly others: readonly OfferedMessage[];
  /** The part of the mailbox, when the message is offered to several. */
  readonly shared: SharedDelivery | undefined;
  readonly #withdrawn: () => void;
  #state: 'open' | 'taken' | Ending<R> = 'open';
  #ended: ((ending: Ending<R>) => void) | undefined;

  constructor(
    message: OfferedMessage,
    withdrawn: () => void,
    { shared, others = [] }: { readonly shared?: SharedDelivery; readonly others?: readonly OfferedMessage[] } = {},
  ) {
    this.message = message;
    this.others = others;
    this.#withdrawn = withdrawn;
    this.shared = shared;
  }

  get contents(): readonly BlobContent[] {
    return [this.message, ...this.others].map(({ content }) => content);
  }

  /** Whether a commit may begin that takes the message. */
  get isOpen(): boolean {
    return this.#state === 'open' && this.shared?.message.isClosed !== true;
  }

  get isCommitted(): boolean {
    return typeof this.#state === 'object' && this.#state.kind === 'committed';
  }

  /** A commit that takes the message begins. */
  take(): void {
    if (!this.isOpen) throw new Error('the offer is not open');
    this.#state = 'taken';
  }

  committed(result: R): void {
    this.#end({ kind: 'committed', result });
  }

  /** The commit has written nothing. */
  released(): void {
    this.#end({ kind: 'released' });
  }

  /** The commit has failed. A fault that the database has answered with means that nothing is written. */
  failed(error: unknown): void {
    const fault =
      error instanceof StoreFault ? error : new StoreFault('store-failed', String(error), { temporary: true });
    this.#end(fault.isUndecided ? { kind: 'failed', fault } : { kind: 'released' });
  }

  /**
   * No commit takes the message any more; waits for one that is under way. Resolves with undefined when nothing of the message
   * is committed. @throws StoreFault when that is not known
   */
  async withdraw(): Promise<{ readonly result: R } | undefined> {
    this.#withdrawn();
    const ending = await this.#ending();
    if (ending.kind === 'failed') throw ending.fault;
    return ending.kind === 'committed' ? { result: ending.result } : undefined;
  }

  /** Withdraws the offer when the mailbox has answered, whatever the answer is, or after `OFFER_MS`. */
  async withdrawAfter(asked: Promise<unknown>): ReturnType<MessageOffer<R>['withdraw']> {
    try {
      await atMost(asked, OFFER_MS);
    } catch {
      // The offer's end says what has become of the message.
    }
    return this.withdraw();
  }

  #ending(): Ending<R> | Promise<Ending<R>> {
    if (typeof this.#state === 'object') return this.#state;
    if (this.#state === 'taken') {
      return new Promise((resolve) => {
        this.#ended = resolve;
      });
    }
    this.#state = { kind: 'released' };
    return this.#state;
  }

  #end(ending: Ending<R>): void {
    // It may be taken again, unless it is being withdrawn.
    this.#state = ending.kind === 'released' && this.#ended === undefined ? 'open' : ending;
    this.#ended?.(ending);
  }
}

/** A message that is offered to mailboxes of several accounts. */
export interface SharedOffer<R> {
  readonly message: SharedMessage;
  /** By the ids of deliveries. Other accounts have mailboxes elsewhere, or are offered nothing. */
  readonly offers: ReadonlyMap<string, MessageOffer<R>>;
}

export class MessageOffers {
  readonly #owns: (accountId: string) => boolean;
  readonly #offers = new Map<string, MessageOffer>();
  /** Accounts whose mailboxes have left an offer, the last one last, and until when they are offered nothing. */
  readonly #left = new Map<string, number>();

  /** `owns`: whether this node owns the account's mailbox; what has changed by the time of the commit does no harm. */
  constructor(owns: (accountId: string) => boolean) {
    this.#owns = owns;
  }

  /**
   * `id`: a UUID. `R` is what the command has as result that the maker of the offer asks the mailbox to carry out. Undefined when
   * the message has to be stored first. Who makes the offer withdraws it. `others`: messages that are taken with it.
   */
  offer<R>(
    accountId: string,
    id: string,
    message: OfferedMessage,
    others: readonly OfferedMessage[] = [],
  ): MessageOffer<R> | undefined {
    const areFit = areSmall([message, ...others].map(({ content }) => content));
    return areFit ? this.#offer(accountId, id, message, { others }) : undefined;
  }

  /**
   * Offers a message for several accounts, under the ids of their deliveries. Undefined when it has to be stored first. Who makes
   * the offers withdraws them, and closes the message then.
   */
  share<R>(
    message: OfferedMessage,
    envelope: InboundEnvelope,
    deliveries: readonly InboundDelivery[],
  ): SharedOffer<R> | undefined {
    if (!isSmall(message.content)) return undefined;
    const shared = new SharedMessage(message.content, envelope, deliveries);
    const offers = new Map<string, MessageOffer<R>>();
    for (const { accountId, id } of deliveries) {
      const offer = this.#offer<R>(accountId, id, message, { shared: { message: shared, id } });
      if (offer !== undefined) offers.set(id, offer);
    }
    return offers.size === 0 ? undefined : { message: shared, offers };
  }

  #offer<R>(
    accountId: string,
    id: string,
    message: OfferedMessage,
    more: ConstructorParameters<typeof MessageOffer>[2],
  ): MessageOffer<R> | undefined {
    if (!this.#owns(accountId) || this.#isLeft(accountId)) return undefined;
    const offer = new MessageOffer<R>(message, () => this.#offers.delete(id), more);
    this.#offers.set(id, offer as MessageOffer);
    return offer;
  }

  find(id: string): MessageOffer | undefined {
    return this.#offers.get(id);
  }

  /** The mailbox leaves an offer because its filters read bodies, which the store has to have: it leaves others too. */
  leave(accountId: string): void {
    this.#left.delete(accountId);
    this.#left.set(accountId, performance.now() + LEFT_MS);
    if (this.#left.size <= MOST_LEFT) return;
    const [oldest] = this.#left.keys();
    this.#left.delete(oldest!);
  }

  #isLeft(accountId: string): boolean {
    const until = this.#left.get(accountId);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#left.delete(accountId);
    return false;
  }

  /** What the messages weigh that a command takes: they all travel by one statement. 0 for other commands. */
  weightOf(payload: unknown): number {
    const { offerId } = payload as { readonly offerId?: string };
    const offer = offerId === undefined ? undefined : this.#offers.get(offerId);
    if (offer === undefined) return 0;
    return offer.contents.reduce((sum, { size }) => sum + size / OCTETS_OF_A_WEIGHT, offer.others.length);
  }
}
