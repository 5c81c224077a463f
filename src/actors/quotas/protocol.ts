// What mailboxes, delivery and gateways ask about quotas.
import type { Limits, Usage } from '../../store/limits/quotas.js';
import type { RecipientMailbox } from '../directory/protocol.js';
import type { Quota, Room } from './room.js';

/** What a mailbox needs of the quotas of its node. */
export interface MailboxQuotas {
  /** Undefined, without waiting, while nothing has a limit. Never rejects. */
  of(accountId: string): Promise<Quota | undefined> | undefined;
  /** Tells what a mailbox of this node uses after a commit, or when it is loaded. */
  used(accountId: string, usage: Usage): void;
}

/** What a gateway asks when a message is announced. */
export interface RecipientQuotas {
  /** `bytes`: the announced size of the message; 0 when it is unknown. @throws StoreFault */
  roomFor(accountId: string, bytes: number): Promise<Room>;
}

/** What users are shown. */
export interface AccountUsage {
  readonly used: Usage;
  readonly limit: Limits;
}

export interface AccountQuotas {
  /** What the account uses now; undefined when it does not exist. @throws StoreFault */
  usageOf(accountId: string): Promise<AccountUsage | undefined>;
}

/** Nothing has a limit. */
export const NO_QUOTAS: MailboxQuotas & RecipientQuotas = {
  of: () => undefined,
  used() {},
  roomFor: async () => 'room',
};

/**
 * The room of a recipient. An alias has room as long as one of its mailboxes has, so that a full one does not keep mail from the others.
 * Unclaimed mailboxes have no quota. @throws StoreFault
 */
export async function roomOfAny(
  quotas: RecipientQuotas,
  mailboxes: readonly RecipientMailbox[],
  bytes: number,
): Promise<Room> {
  let room: Room = 'fullForLong';
  for (const mailbox of mailboxes) {
    // What is only sent on takes no room.
    if (mailbox.onward?.isPlaced === false) return 'room';
    const own = mailbox.kind === 'mailbox' ? await quotas.roomFor(mailbox.accountId, bytes) : 'room';
    if (own === 'room') return own;
    if (own === 'full') room = own;
  }
  return mailboxes.length === 0 ? 'room' : room;
}
