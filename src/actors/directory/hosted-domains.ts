// Caches the domains for which mail is accepted. "Not hosted" is a permanent refusal, so it is never based on an old list.
import type { AliasStore, RoutedDomain } from '../../store/addresses/aliases.js';

/** The greatest age of a list on which "not hosted" is based. */
const HOSTED_MS = 1_000;

type Domains = ReadonlyMap<string, RoutedDomain>;

export class HostedDomainCache {
  readonly #store: Pick<AliasStore, 'routedDomains'>;
  readonly #now: () => number;
  #domains: Promise<Domains> | undefined;
  #readAt = 0;

  /** `now`: ms of a clock that does not jump. */
  constructor(store: Pick<AliasStore, 'routedDomains'>, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** A failed read is not cached, so the next recipient tries again. @throws StoreFault */
  all(): Promise<Domains> {
    if (this.#domains !== undefined) return this.#domains;
    const read = this.#store.routedDomains().then((domains) => new Map(domains.map((domain) => [domain.name, domain])));
    this.#domains = read;
    this.#readAt = this.#now();
    read.catch(() => {
      if (this.#domains === read) this.#domains = undefined;
    });
    return read;
  }

  /** Reads again before it answers "no": the notice of a change may still be on its way, or lost with a dead connection. */
  async find(name: string): Promise<RoutedDomain | undefined> {
    const read = this.all();
    const found = (await read).get(name);
    if (found !== undefined) return found;
    if (this.#domains === read && this.#now() - this.#readAt < HOSTED_MS) return undefined;
    if (this.#domains === read) this.#domains = undefined;
    return (await this.all()).get(name);
  }

  /** The domains that are other names of the domain. */
  async aliasesOf(target: string): Promise<readonly string[]> {
    return [...(await this.all()).values()].flatMap(({ name, aliasOf }) => (aliasOf === target ? [name] : []));
  }

  drop(): void {
    this.#domains = undefined;
  }
}
