// Messages for several accounts that commands of another node carry: the mailboxes of this node that get one share it, as if it had
// come to this node (docs/decisions/0077). It is forgotten when all commands on it are answered.
import type { ReceivedShare } from './carried-messages.js';
import { type SharedDelivery, SharedMessage } from './shared-message.js';
import type { UnstoredMessage } from './unstored-message.js';

interface Received {
  readonly message: SharedMessage;
  readonly unstored: UnstoredMessage;
  /** Commands on it that are not answered. */
  commands: number;
}

/** What a command has of a message for several accounts, until it is answered. */
export interface TakenShare {
  readonly unstored: UnstoredMessage;
  readonly delivery: SharedDelivery;
  answered(): void;
}

export class ReceivedShares {
  readonly #received = new Map<string, Received>();

  /** Undefined when no command has carried the message, or all that did are answered. */
  take({ messageId, deliveryId: id, whole }: ReceivedShare): TakenShare | undefined {
    const received = this.#received.get(messageId) ?? receivedOf(whole);
    if (received === undefined) return undefined;
    this.#received.set(messageId, received);
    received.commands++;
    const { message, unstored } = received;
    return {
      unstored,
      delivery: { message, id },
      answered: () => {
        if (--received.commands > 0) return;
        this.#received.delete(messageId);
        message.close();
      },
    };
  }
}

/** The other node stores the message too when it hears of no commit, so the deliveries count as tried. */
function receivedOf(whole: ReceivedShare['whole']): Received | undefined {
  if (whole === undefined) return undefined;
  const { unstored, envelope, deliveries } = whole;
  const tried = deliveries.map(({ accountId, id }) => ({ accountId, id, isTried: true }));
  return { unstored, message: new SharedMessage(unstored.content, envelope, tried), commands: 0 };
}
