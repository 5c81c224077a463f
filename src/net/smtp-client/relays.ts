// Which smart host takes the mail of a sender: the one of the sender's hosted domain, else the one of MANSIO_RELAY_URL. Settings of domains
// are read again after some seconds. When they cannot be read, nothing is sent: mail must not take another way than its operator has chosen.
import { createHash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { lruCache } from '../../concurrency/lru-cache.js';
import { parseAddress } from '../../mail-format/address.js';
import { parseRelayUrl, type Relay, relayPlace } from '../../mail-format/relay-url.js';
import { DIRECT, type RelayStore } from '../../store/relays.js';
import type { RelayLogins } from './relay-logins.js';

export interface RelayOptions {
  readonly store: Pick<RelayStore, 'relayOf'>;
  /** MANSIO_RELAY_URL. */
  readonly url?: string | undefined;
  /** Is told the smart host of each domain's own setting whenever it was read. */
  readonly logins: Pick<RelayLogins, 'setting'>;
}

export interface SenderRelay extends Relay {
  /** Two settings with one id have the same URL. It does not show the password. */
  readonly id: string;
  /** Host and port, for people. */
  readonly place: string;
  /** The domain whose setting it is; '' for that of all. */
  readonly from: string;
}

interface Setting {
  readonly relay: SenderRelay | undefined;
}

/** A changed setting holds after this time at the latest. */
const REMEMBERED_MS = 5_000;
const REMEMBERED = 10_000;

export class Relays {
  readonly #forAll: SenderRelay | undefined;
  readonly #byDomain: LRUCache<string, Setting>;

  constructor({ store, url, logins }: RelayOptions) {
    const forAll = url === undefined ? undefined : relayAt(url, '');
    this.#forAll = forAll;
    this.#byDomain = lruCache<string, Setting>(REMEMBERED, {
      ttl: REMEMBERED_MS,
      fetchMethod: async (domain) => {
        const setting = await store.relayOf(domain);
        const own = setting === undefined || setting === DIRECT ? undefined : relayAt(setting, domain);
        logins.setting(domain, own?.id);
        return { relay: setting === undefined ? forAll : own };
      },
    });
  }

  /** Undefined when mail of the sender goes to the MX hosts of its recipients. @throws StoreFault */
  async of(sender: string): Promise<SenderRelay | undefined> {
    const domain = parseAddress(sender)?.domain;
    if (domain === undefined) return this.#forAll;
    return (await this.#byDomain.fetch(domain))?.relay;
  }
}

function relayAt(url: string, from: string): SenderRelay {
  const relay = parseRelayUrl(url);
  if (relay === undefined) throw new Error(`the smart host of ${from || 'MANSIO_RELAY_URL'} is set to no usable URL`);
  const id = createHash('sha256').update(url).digest('hex');
  return { ...relay, id, place: relayPlace(relay), from };
}
