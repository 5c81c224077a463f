// Port: the smart hosts of hosted domains, which pass the mail of these senders on. The URLs have passwords: nothing logs or shows them.

/** `direct`: mail goes to the MX hosts of its recipients; otherwise the URL of a smart host. */
export type RelaySetting = string;

export const DIRECT: RelaySetting = 'direct';

export interface RelayStore {
  /** Undefined when the domain has no setting of its own, or is not hosted. */
  relayOf(domain: string): Promise<RelaySetting | undefined>;
  /** The settings of all domains that have one, by domain. */
  all(): Promise<ReadonlyMap<string, RelaySetting>>;
  /** `undefined` removes the setting. Returns false when the domain is not hosted. */
  set(domain: string, relay: RelaySetting | undefined): Promise<boolean>;
}
