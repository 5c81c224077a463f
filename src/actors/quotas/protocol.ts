// What mailboxes, delivery and gateways ask about quotas.
import type { Limits, Usage } from '../../store/limits/quotas.js';
import type { RecipientMailbox } from '../directory/protocol.js';
import { isNearlyFull, type Quota, RESOURCES, type Room } from './room.js';

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
  /** What the accounts of its domain use together; undefined when the domain has no limit. */
  readonly domain?: DomainUsage | undefined;
}

interface DomainUsage {
  readonly name: string;
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

/** The domain whose limit leaves less room than that of the account does; undefined while the account's own limit is the one that counts. */
export function limitingDomain({ used, limit, domain }: AccountUsage): string | undefined {
  if (domain === undefined || !isNearlyFull(domain)) return undefined;
  const isLess = RESOURCES.some((resource) => {
    const own = (limit[resource] ?? Number.POSITIVE_INFINITY) - used[resource];
    const shared = (domain.limit[resource] ?? Number.POSITIVE_INFINITY) - domain.used[resource];
    return shared < own;
  });
  return isLess ? domain.name : undefined;
}
