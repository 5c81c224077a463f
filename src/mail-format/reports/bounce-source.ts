// Decides whether a bounce is believed: it must come from the host that accepted the message, or be authenticated as the recipient's domain
// or one of its MX hosts (docs/interface/mail.md, "Later bounces"). Anybody can write a bounce.

export interface BounceSource {
  /** The address of the host that sent the bounce. */
  readonly remoteAddress: string;
  /** The domains for which SPF or a DKIM signature of the bounce passes, in lower case. */
  readonly domains: string[];
}

export interface TakenMessage {
  /** The recipient's domain, in lower case and A-labels. */
  readonly domain: string;
  /** The names of the domain's MX hosts that were tried. */
  readonly hosts: readonly string[];
  /** The addresses of the hosts that accepted the message. */
  readonly takers: readonly string[];
}

export function isBelieved({ remoteAddress, domains }: BounceSource, { domain, hosts, takers }: TakenMessage): boolean {
  if (takers.includes(remoteAddress)) return true;
  return domains.some((passed) => [domain, ...hosts].some((name) => speaksFor(passed, name.toLowerCase())));
}

/**
 * Returns true for the name itself, a domain above it, or one below it. A public suffix signs nothing, and a single label is not a domain.
 */
function speaksFor(passed: string, name: string): boolean {
  if (!passed.includes('.') || !name.includes('.')) return false;
  return passed === name || name.endsWith(`.${passed}`) || passed.endsWith(`.${name}`);
}
