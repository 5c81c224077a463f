// Mailboxes for unknown addresses of hosted domains (docs/interface/mail.md, "Unknown recipients"). One is created when there is
// a message for it, within bounds per mailbox, per domain and for the whole store. postmaster and abuse of a domain are always
// accepted (RFC 5321 §4.5.1, RFC 2142): the bounds do not apply to them; their oldest mail is deleted instead.

import type { AddressOwner, DirectoryStore } from '../../store/directory.js';
import { StoreFault } from '../../store/errors.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import { ActorFault } from '../runtime/errors.js';
import { UnclaimedUsageEstimate } from './unclaimed-usage.js';

/** Unclaimed addresses per domain. */
const MAX_ADDRESSES = 1_000;
/**
 * A domain with at most this many addresses has room, whatever other nodes have added since the last read; above it the store is
 * asked.
 */
const CERTAINLY_ROOM = 900;
/** Messages per unclaimed mailbox. */
const MAX_MESSAGES = 100;
/** postmaster and abuse each keep their newest mail up to these bounds. */
const KEPT_OF_ROLE = { messages: 1_000, octets: 64 * 1024 * 1024 };
const ROLES: readonly string[] = ['postmaster', 'abuse'];
/** A mailbox that can answer does so within milliseconds. */
const DEADLINE_MS = 2_000;

type Store = Pick<
  DirectoryStore,
  'ownerOf' | 'openUnclaimed' | 'hasUnclaimedRoom' | 'unclaimedUsage' | 'unclaimedSurplus'
>;

export class UnclaimedMailboxes {
  readonly #store: Store;
  readonly #mailboxes: Mailboxes;
  readonly #use: UnclaimedUsageEstimate;

  /** `now`: ms of a clock that does not jump. */
  constructor(store: Store, mailboxes: Mailboxes, now: () => number) {
    this.#store = store;
    this.#mailboxes = mailboxes;
    this.#use = new UnclaimedUsageEstimate(() => store.unclaimedUsage(ROLES), now);
  }

  /** Whether the address can get an unclaimed mailbox together with those in `beside`. @throws StoreFault */
  async hasRoom(address: string, beside: readonly string[]): Promise<boolean> {
    if (isRole(address)) return true;
    const domain = domainOf(address);
    if (!(await this.#use.hasRoom(domain))) return false;
    const { addresses } = await this.#use.of(domain);
    const { size } = new Set([...beside, address].filter((one) => domainOf(one) === domain && !isRole(one)));
    return addresses + size <= CERTAINLY_ROOM || this.#store.hasUnclaimedRoom(address, MAX_ADDRESSES - (size - 1));
  }

  /** Whether the unclaimed mailbox of the address accepts one more message. @throws StoreFault */
  async acceptance(address: string, { accountId }: AddressOwner): Promise<'open' | 'full' | 'gone'> {
    const total = await this.#total(accountId);
    if (total === 'gone') return 'gone';
    if (isRole(address) || total === 'claimed') return 'open';
    return total >= MAX_MESSAGES || !(await this.#use.hasRoom(domainOf(address))) ? 'full' : 'open';
  }

  /**
   * Creates mailboxes for those addresses of one message that have none; returns account ids by address. Returns undefined,
   * usually without creating any, when one of them cannot have a mailbox now. The `octets` of the message count for them and for
   * `existing`, which have a mailbox. @throws StoreFault
   */
  async open(
    addresses: readonly string[],
    octets: number,
    existing: readonly string[],
  ): Promise<ReadonlyMap<string, string> | undefined> {
    // Addresses that got an owner meanwhile need no room; checking them too errs on the safe side.
    const bounded = [...addresses, ...existing].filter((address) => !isRole(address));
    for (const domain of new Set(bounded.map(domainOf))) if (!(await this.#use.hasRoom(domain))) return undefined;
    const byDomain = new Map(addresses.filter((address) => !isRole(address)).map((one) => [domainOf(one), one]));
    for (const address of byDomain.values()) if (!(await this.hasRoom(address, addresses))) return undefined;
    const made = new Map<string, string>();
    for (const address of new Set(addresses)) {
      const opened = await this.#store.openUnclaimed(
        address,
        isRole(address) ? Number.MAX_SAFE_INTEGER : MAX_ADDRESSES,
      );
      if (opened.kind === 'full') return undefined;
      const { accountId, isNew } = opened;
      if (isNew) this.#use.add(domainOf(address), { addresses: 1, octets: 0 });
      // Another message may have arrived first and filled the mailbox.
      else if ((await this.acceptance(address, { accountId, isUnclaimed: true })) !== 'open') return undefined;
      made.set(address, accountId);
    }
    for (const address of new Set([...addresses, ...existing])) {
      if (isRole(address)) await this.#makeRoom(address);
      else this.#use.add(domainOf(address), { addresses: 0, octets });
    }
    return made;
  }

  /** Deletes the oldest mail of a role address that exceeds KEPT_OF_ROLE. */
  async #makeRoom(address: string): Promise<void> {
    const owner = await this.#store.ownerOf(address);
    if (owner?.isUnclaimed !== true) return;
    const { accountId } = owner;
    const surplus = await this.#store.unclaimedSurplus(accountId, KEPT_OF_ROLE);
    if (surplus === undefined) return;
    await asked(accountId, () =>
      this.#mailboxes.of(accountId).ask('expire', { receivedBefore: surplus + 1 }, { deadlineMs: DEADLINE_MS }),
    );
  }

  async #total(accountId: string): Promise<number | 'claimed' | 'gone'> {
    const answer = await asked(accountId, () =>
      this.#mailboxes.of(accountId).ask('acceptance', {}, { deadlineMs: DEADLINE_MS }),
    );
    if (answer === 'gone') return 'gone';
    return answer.reply?.isUnclaimed === true ? answer.reply.total : 'claimed';
  }
}

/** Whether mail for the address is always accepted. `address`: in canonical form. */
export function isRole(address: string): boolean {
  return ROLES.includes(address.slice(0, address.lastIndexOf('@')));
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

async function asked<T>(accountId: string, ask: () => Promise<T>): Promise<T | 'gone'> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ActorFault)) throw error;
    if (error.code === 'no-such-account') return 'gone';
    throw new StoreFault('store-unavailable', `unclaimed mailbox ${accountId} cannot be asked: ${error.message}`, {
      temporary: true,
      cause: error,
    });
  }
}
