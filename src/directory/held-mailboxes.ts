// Mailboxes for unknown addresses of hosted domains (docs/interface/mail.md, "Unknown recipients"): made when there is a message for one, within bounds for a
// mailbox, a domain and the whole store. postmaster and abuse of a domain are always accepted (RFC 5321 §4.5.1, RFC 2142):
// the bounds are not for them, their oldest mail goes instead.

import type { Mailboxes } from '../actors/mailbox/protocol.js';
import { ActorFault } from '../actors/runtime/errors.js';
import type { AddressOwner, DirectoryStore } from '../store/directory.js';
import { StoreFault } from '../store/errors.js';
import { KnownHeldUse } from './held-use.js';

/** Held addresses of one domain. */
const MAX_HELD = 1_000;
/** Below it a domain has room, whatever other nodes have made since the last read; above it the store is asked. */
const CERTAINLY_ROOM = 900;
/** Messages in one held mailbox. */
const MAX_HELD_MESSAGES = 100;
/** What one of postmaster and abuse keeps, the newest of it. */
const KEPT_OF_ROLE = { messages: 1_000, octets: 64 * 1024 * 1024 };
const ROLES: readonly string[] = ['postmaster', 'abuse'];
/** The owner of a mailbox that is not asked in vain answers within milliseconds. */
const DEADLINE_MS = 2_000;

type Store = Pick<DirectoryStore, 'ownerOf' | 'holdAddress' | 'heldRoom' | 'heldUse' | 'heldSurplus'>;

export class HeldMailboxes {
  readonly #store: Store;
  readonly #mailboxes: Mailboxes;
  readonly #use: KnownHeldUse;

  /** `now`: ms of a clock that does not jump. */
  constructor(store: Store, mailboxes: Mailboxes, now: () => number) {
    this.#store = store;
    this.#mailboxes = mailboxes;
    this.#use = new KnownHeldUse(() => store.heldUse(ROLES), now);
  }

  /** Whether the address can be held together with those `beside`. @throws StoreFault */
  async hasRoom(address: string, beside: readonly string[]): Promise<boolean> {
    if (isRole(address)) return true;
    const domain = domainOf(address);
    if (!(await this.#use.hasRoom(domain))) return false;
    const { addresses } = await this.#use.of(domain);
    const { size } = new Set([...beside, address].filter((one) => domainOf(one) === domain && !isRole(one)));
    return addresses + size <= CERTAINLY_ROOM || this.#store.heldRoom(address, MAX_HELD - (size - 1));
  }

  /** Whether the held mailbox of the address takes one more message. @throws StoreFault */
  async acceptance(address: string, { accountId }: AddressOwner): Promise<'open' | 'full' | 'gone'> {
    const total = await this.#total(accountId);
    if (total === 'gone') return 'gone';
    if (isRole(address) || total === 'claimed') return 'open';
    return total >= MAX_HELD_MESSAGES || !(await this.#use.hasRoom(domainOf(address))) ? 'full' : 'open';
  }

  /**
   * Mailboxes of the addresses of one message that have none yet, by address; undefined, and as a rule none made, when one of
   * them cannot have one now. `octets` of the message count for them and for `existing`, which have one. @throws StoreFault
   */
  async hold(
    addresses: readonly string[],
    octets: number,
    existing: readonly string[],
  ): Promise<ReadonlyMap<string, string> | undefined> {
    // Those that got an owner since need no room; asking for it all the same errs on the safe side.
    const bounded = [...addresses, ...existing].filter((address) => !isRole(address));
    for (const domain of new Set(bounded.map(domainOf))) if (!(await this.#use.hasRoom(domain))) return undefined;
    const byDomain = new Map(addresses.filter((address) => !isRole(address)).map((one) => [domainOf(one), one]));
    for (const address of byDomain.values()) if (!(await this.hasRoom(address, addresses))) return undefined;
    const made = new Map<string, string>();
    for (const address of new Set(addresses)) {
      const held = await this.#store.holdAddress(address, isRole(address) ? Number.MAX_SAFE_INTEGER : MAX_HELD);
      if (held.kind === 'full') return undefined;
      const { accountId, isNew } = held;
      if (isNew) this.#use.add(domainOf(address), { addresses: 1, octets: 0 });
      // Another message may have come first, and filled it.
      else if ((await this.acceptance(address, { accountId, held: true })) !== 'open') return undefined;
      made.set(address, accountId);
    }
    for (const address of new Set([...addresses, ...existing])) {
      if (isRole(address)) await this.#makeRoom(address);
      else this.#use.add(domainOf(address), { addresses: 0, octets });
    }
    return made;
  }

  /** The oldest mail of a role address goes, as far as there is more than is kept. */
  async #makeRoom(address: string): Promise<void> {
    const owner = await this.#store.ownerOf(address);
    if (owner?.held !== true) return;
    const { accountId } = owner;
    const surplus = await this.#store.heldSurplus(accountId, KEPT_OF_ROLE);
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
    return answer.reply?.held === true ? answer.reply.total : 'claimed';
  }
}

/** Whether mail for the address is to be accepted whatever there is. `address`: in canonical form. */
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
