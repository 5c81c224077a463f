// Whether a bounce is to be believed: it comes from the host that took the message, or from who is authenticated as the
// recipient's domain or one of its MX hosts (docs/interface/mail.md, "Later bounces"). Anybody can write a bounce.

export interface BounceSource {
  /** The address of the host that gave the bounce in. */
  readonly remoteAddress: string;
  /** Domains for which SPF or a DKIM signature of the bounce passes; lower case. */
  readonly domains: string[];
}

export interface TakenMessage {
  /** The recipient's domain, in lower case and A-labels. */
  readonly domain: string;
  /** MX hosts of the domain that were tried, by name. */
  readonly hosts: readonly string[];
  /** Addresses of the hosts that took the message. */
  readonly takers: readonly string[];
}

export function isBelieved({ remoteAddress, domains }: BounceSource, { domain, hosts, takers }: TakenMessage): boolean {
  if (takers.includes(remoteAddress)) return true;
  return domains.some((passed) => [domain, ...hosts].some((name) => speaksFor(passed, name.toLowerCase())));
}

/** The name itself, a domain above it, or one below it. A public suffix signs nothing, and one label is no domain. */
function speaksFor(passed: string, name: string): boolean {
  if (!passed.includes('.') || !name.includes('.')) return false;
  return passed === name || name.endsWith(`.${passed}`) || passed.endsWith(`.${name}`);
}
