// Messages on their way to a mailbox. A command names each by a handle: a stored message by its blob, an inline one by an id. An inline
// message is not yet stored: the mailbox that accepts it stores the octets and the email in one commit (docs/decisions/0055). For a mailbox
// of this node, the component that adds the message revokes it in the end, and then learns whether it is committed. For a mailbox of
// another node, the octets travel with the command (docs/decisions/0077), and only an answer tells whether they are committed.
import { lruCache } from '../../concurrency/lru-cache.js';
import { atMost } from '../../concurrency/time-bounds.js';
import type { MessageSummary } from '../../mail-format/summary.js';
import { areSmall, isSmall } from '../blobs.js';
import { newId } from '../ids/new-id.js';
import type { InboundDelivery, InboundEnvelope } from '../inbound.js';
import { type Carried, carriedMessage, type ReceivedShare, receivedMessages } from './carried-messages.js';
import { InlineMessage } from './inline-message.js';
import { ReceivedShares } from './received-shares.js';
import { type SharedDelivery, SharedMessage } from './shared-message.js';
import type { UnstoredMessage } from './unstored-message.js';

/** A mailbox that takes longer, because it must be loaded or is busy, gets the message from the store. */
const INLINE_MS = 1000;
/** How long a mailbox that had to read a body gets no inline messages: each declined message costs a round trip to the store. */
const DECLINED_MS = 60_000;
/** The most mailboxes of another node that get a message together; further ones get it from their rows. */
const MOST_TOGETHER = 100;
/** The most mailboxes that are remembered as declining. */
const MOST_DECLINING = 10_000;
/** Octets of a message that weigh as much as a command that changes one email. */
const OCTETS_OF_A_WEIGHT = 1_000;

type StoredHandle = { readonly blob: string; readonly summary: MessageSummary };
export type MessageHandle = { readonly inlineId: string } | StoredHandle;

/** The result of a command on messages. `unstored`: the mailbox does not accept an inline message, which must be stored first. */
interface Answer {
  readonly reply?: unknown;
  readonly refusal?: string;
}

/** How a command on messages is asked. */
export interface MessageAsk {
  /** How long it may take; absent for stored messages. */
  readonly deadlineMs?: number;
  /** Id of the command: equal in both asks when the first one carries the messages, because it may be carried out without an answer. */
  readonly id?: string;
  /** The messages of the handles, for a mailbox of another node. */
  readonly carried?: readonly Carried[];
}

/** Sends a command with one handle per message. */
type Ask<A extends Answer> = (handles: readonly MessageHandle[], how: MessageAsk) => Promise<A>;

/** `isTried`: a mailbox of another node was asked and has not answered, so it may commit the messages, or may have done so. */
export type InlineOutcome<A> =
  | { readonly answer: A; readonly isTried: false }
  | { readonly answer?: never; readonly isTried: boolean };

const UNKNOWN = new Error('no answer says that the message is stored');
const NOT_TRIED = { isTried: false } as const;
const TRIED = { isTried: true } as const;

/** An inline message for mailboxes of several accounts. */
export interface SharedInlineMessage {
  readonly message: SharedMessage;
  /** Keyed by delivery id. Accounts whose mailboxes are on other nodes or are declining have no entry. */
  readonly inlineMessages: ReadonlyMap<string, InlineMessage>;
}

/** A message for several accounts that mailboxes were given: a statement may store it, or may have done so, whatever they answer. */
export interface GivenTogether<A> {
  /** Keyed by delivery id; undefined without an answer in time. Accounts that were not asked have no entry. */
  readonly answers: ReadonlyMap<string, Promise<A | undefined>>;
  /** Resolves with true at the first answer that says so: it is stored for all accounts. */
  readonly isStored: Promise<boolean>;
}

export class InlineMessages {
  readonly #owns: (accountId: string) => boolean;
  readonly #nodeOf: (accountId: string) => string | undefined;
  readonly #waitMs: number;
  readonly #inlineMessages = new Map<string, InlineMessage>();
  readonly #shares = new ReceivedShares();
  /** Accounts whose mailboxes have declined an inline message and get none for a while. */
  readonly #declined = lruCache<string, true>(MOST_DECLINING, { ttl: DECLINED_MS });

  /**
   * `owns`: whether this node owns the account's mailbox. `nodeOf`: the node that owns it, if it is known. A change of ownership before the
   * commit does no harm. `waitMs`: how long a mailbox of another node may take.
   */
  constructor(
    owns: (accountId: string) => boolean,
    nodeOf: (accountId: string) => string | undefined = () => undefined,
    waitMs = INLINE_MS,
  ) {
    this.#owns = owns;
    this.#nodeOf = nodeOf;
    this.#waitMs = waitMs;
  }

  /**
   * Runs a command on messages, which its commit stores if they are inline; otherwise `store` stores them first. @throws StoreFault when
   * it is unknown whether the messages are committed; the errors of `store` and `ask`
   */
  async commit<A extends Answer>(
    accountId: string,
    messages: readonly UnstoredMessage[],
    ask: Ask<A>,
    store: () => Promise<readonly StoredHandle[]>,
  ): Promise<A> {
    const id = newId();
    const outcome = await this.commitInline(accountId, messages, ask, id);
    if (outcome.answer !== undefined) return outcome.answer;
    return ask(await store(), outcome.isTried ? { id } : {});
  }

  /**
   * Runs a command on messages that its commit stores. Without an answer the messages must be stored first. `id`: of the command, if the
   * messages travel with it. @throws StoreFault when it is unknown whether a mailbox of this node has committed them
   */
  async commitInline<A extends Answer>(
    accountId: string,
    messages: readonly UnstoredMessage[],
    ask: Ask<A>,
    id: string,
  ): Promise<InlineOutcome<A>> {
    if (messages.length === 0 || !areSmall(messages.map(({ content }) => content))) return NOT_TRIED;
    if (this.#declined.has(accountId)) return NOT_TRIED;
    if (!this.#owns(accountId)) return this.#commitElsewhere(accountId, messages, ask, id);
    const added = messages.map((message) => this.#register(message));
    const handles = added.map(({ id: inlineId }) => ({ inlineId }));
    const answer = await answerOf(added, (deadlineMs) => ask(handles, { deadlineMs }));
    return answer === undefined ? NOT_TRIED : { answer, isTried: false };
  }

  /** The messages travel with the command; its owner has them for the time of the command. */
  async #commitElsewhere<A extends Answer>(
    accountId: string,
    messages: readonly UnstoredMessage[],
    ask: Ask<A>,
    id: string,
  ): Promise<InlineOutcome<A>> {
    const carried = await Promise.all(messages.map((message) => carriedMessage(newId(), message)));
    const handles = carried.map(({ id: inlineId }) => ({ inlineId }));
    const answer = await this.#answerInTime(ask(handles, { deadlineMs: this.#waitMs, id, carried }));
    if (answer === undefined) return TRIED;
    if (answer.refusal !== 'unstored') return { answer, isTried: false };
    this.decline(accountId);
    return NOT_TRIED;
  }

  /**
   * Gives a message for several accounts to those of their mailboxes that are on one other node, the one that has most of them. They place
   * it as mailboxes of one node do, so it is stored for all accounts or for none. `ask` is called once per delivery, all in one turn.
   * Undefined when no mailbox was asked.
   */
  async commitTogether<A extends Answer>(
    message: UnstoredMessage,
    envelope: InboundEnvelope,
    deliveries: readonly InboundDelivery[],
    ask: (delivery: InboundDelivery, handle: MessageHandle, how: MessageAsk) => Promise<A>,
  ): Promise<GivenTogether<A> | undefined> {
    const chosen = isSmall(message.content) ? this.#together(deliveries) : [];
    if (chosen.length === 0) return undefined;
    const messageId = newId();
    const whole = { message: await carriedMessage(newId(), message), envelope, deliveries };
    const asked = chosen.map((delivery, i) => {
      const { id: deliveryId } = delivery;
      const share = { id: newId(), messageId, deliveryId };
      const how = { deadlineMs: this.#waitMs, id: deliveryId, carried: [i === 0 ? { ...share, whole } : share] };
      return this.#answerInTime(ask(delivery, { inlineId: share.id }, how));
    });
    // An answer without a reply leaves the others to tell.
    const stored = asked.map(async (answer) => (await answer)?.reply !== undefined || Promise.reject(UNKNOWN));
    const isStored = Promise.any(stored).catch(() => false);
    void this.#heed(chosen, asked, isStored);
    return { answers: new Map(chosen.map(({ id }, i) => [id, asked[i]!])), isStored };
  }

  /** Remembers who has declined what others have stored. If nobody stored it, another mailbox gets it first the next time. */
  async #heed(
    chosen: readonly InboundDelivery[],
    asked: readonly Promise<Answer | undefined>[],
    isStored: Promise<boolean>,
  ): Promise<void> {
    const most = (await isStored) ? chosen.length : 1;
    for (const [i, answer] of asked.slice(0, most).entries()) {
      if ((await answer)?.refusal === 'unstored') this.decline(chosen[i]!.accountId);
    }
  }

  /** Undefined when the owner has not answered: the command may be carried out nevertheless. */
  async #answerInTime<A extends Answer>(asked: Promise<A>): Promise<A | undefined> {
    let answer: A | undefined;
    const heard = asked.then((given) => {
      answer = given;
    });
    try {
      await atMost(heard, this.#waitMs);
    } catch {
      return undefined;
    }
    return answer;
  }

  /** The deliveries to mailboxes of the other node that has most of them. */
  #together(deliveries: readonly InboundDelivery[]): readonly InboundDelivery[] {
    const byNode = new Map<string, InboundDelivery[]>();
    let most: readonly InboundDelivery[] = [];
    for (const delivery of deliveries) {
      const node = this.#declined.has(delivery.accountId) ? undefined : this.#nodeOf(delivery.accountId);
      if (node === undefined) continue;
      const those = byNode.get(node) ?? [];
      byNode.set(node, those);
      those.push(delivery);
      if (those.length > most.length) most = those;
    }
    return most.slice(0, MOST_TOGETHER);
  }

  /**
   * Registers the messages that a command of another node carries. The caller calls the returned function when it has answered. Undefined
   * when a message is damaged; then none is registered.
   */
  receive(packed: unknown): (() => void) | undefined {
    const received = receivedMessages(packed);
    if (received === undefined) return undefined;
    const ends = received.map((carried) => {
      if ('messageId' in carried) return this.#receiveShare(carried);
      return this.#received(this.#register(carried.unstored, undefined, carried.id));
    });
    return () => {
      for (const end of ends) end();
    };
  }

  #receiveShare(carried: ReceivedShare): () => void {
    const taken = this.#shares.take(carried);
    if (taken === undefined) return () => {};
    const end = this.#received(this.#register(taken.unstored, taken.delivery, carried.id));
    return () => {
      end();
      taken.answered();
    };
  }

  /** The answer tells the other node what has become of its message. */
  #received(inlineMessage: InlineMessage): () => void {
    return () => void inlineMessage.revoke().catch(() => {});
  }

  /**
   * Adds a message for several accounts, one inline message per delivery. Undefined when it must be stored first. The caller revokes the
   * inline messages and then closes the message.
   */
  share(
    message: UnstoredMessage,
    envelope: InboundEnvelope,
    deliveries: readonly InboundDelivery[],
  ): SharedInlineMessage | undefined {
    if (!isSmall(message.content)) return undefined;
    const shared = new SharedMessage(message.content, envelope, deliveries);
    const inlineMessages = new Map<string, InlineMessage>();
    for (const { accountId, id } of deliveries) {
      const inlineMessage = this.add(accountId, message, { message: shared, id });
      if (inlineMessage !== undefined) inlineMessages.set(id, inlineMessage);
    }
    return inlineMessages.size === 0 ? undefined : { message: shared, inlineMessages };
  }

  /** Adds a message for a mailbox of this node. Undefined when it must be stored first. The caller revokes the inline message. */
  add(accountId: string, message: UnstoredMessage, shared?: SharedDelivery): InlineMessage | undefined {
    if (!this.#owns(accountId) || this.#declined.has(accountId)) return undefined;
    return this.#register(message, shared);
  }

  #register(message: UnstoredMessage, shared?: SharedDelivery, carriedId?: string): InlineMessage {
    const revoked = () => {
      // A command that another node has sent twice is here twice, with the same messages.
      if (this.#inlineMessages.get(inlineMessage.id) === inlineMessage) this.#inlineMessages.delete(inlineMessage.id);
    };
    const inlineMessage = new InlineMessage(message, revoked, shared, carriedId);
    this.#inlineMessages.set(inlineMessage.id, inlineMessage);
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

  /** The weight of the octets that a command brings: one statement writes them all. 0 for other commands. */
  weightOf(payload: unknown): number {
    const { messages = [payload as Partial<MessageHandle>] } = payload as {
      messages?: readonly Partial<MessageHandle>[];
    };
    let weight = 0;
    for (const handle of messages) {
      const inlineMessage = 'inlineId' in handle ? this.#inlineMessages.get(handle.inlineId!) : undefined;
      if (inlineMessage !== undefined) weight += inlineMessage.message.content.size / OCTETS_OF_A_WEIGHT;
    }
    return weight;
  }
}

/**
 * Revokes the inline messages of a command when the mailbox has answered, or after `INLINE_MS`. They are committed together or not at all,
 * whatever the answer was. Undefined when they must be stored first. @throws StoreFault when it is unknown whether they are committed
 */
export async function answerOf<A extends Answer>(
  inlineMessages: readonly InlineMessage[],
  ask: (deadlineMs: number) => Promise<A>,
): Promise<A | undefined> {
  let refused: A | undefined;
  const asked = ask(INLINE_MS).then((answer) => {
    if (answer.refusal !== undefined && answer.refusal !== 'unstored') refused = answer;
  });
  try {
    await atMost(asked, INLINE_MS);
  } catch {
    // `revoke` reports the result, so the error is not needed.
  }
  const [committed] = await Promise.all(inlineMessages.map((inlineMessage) => inlineMessage.revoke()));
  return committed === undefined ? refused : ({ reply: committed.result } as A);
}
