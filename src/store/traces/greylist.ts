// Port: the greylist of the cluster. Doubtful mail from servers that nobody knows is deferred once; a server that tries again after a minute
// is known for 35 days, by its network and by the domains for which its message is authenticated. Who only sends once never is.

/** A retry counts after the delay and within the window. */
export const GREYLIST_DELAY_MS = 60_000;
export const GREYLIST_WINDOW_MS = 24 * 3_600_000;
export const GREYLIST_KNOWN_MS = 35 * 24 * 3_600_000;
/** What waits for a retry, of one network and in all. */
export const MOST_WAITING_OF_NETWORK = 1_000;
export const MOST_WAITING = 500_000;
/** What is known, by one network and in all. */
export const MOST_KNOWN_OF_NETWORK = 100;
export const MOST_KNOWN = 1_000_000;

export interface GreylistedMail {
  /** An IPv4 network of 24 bits, or an IPv6 network of 64. */
  readonly network: string;
  /** The domains for which SPF or a signature passes, in lower case; few. */
  readonly domains: readonly string[];
  /** The envelope sender; '' for the null one. */
  readonly sender: string;
  /** At least one. */
  readonly recipients: readonly string[];
}

/**
 * `known`: a server of the network or domain has tried again before. `retried`: this message is such a retry. `waiting`: it comes for the
 * first time or too early. `full`: too much of the network waits, and the message was not noted.
 */
export type GreylistAnswer = 'known' | 'retried' | 'waiting' | 'full';

export interface GreylistStore {
  ask(mail: GreylistedMail): Promise<GreylistAnswer>;
  /** Drops what is too old, and the oldest of what is too much; returns how many rows. */
  prune(): Promise<number>;
}
