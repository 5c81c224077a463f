// The senders that an account allows or blocks: addresses, and domains with all below them. What names a sender most exactly counts: an
// address before its domain, a domain before the one above it.
import { parseSender } from './address.js';

export interface SenderLists {
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
}

export type SenderVerdict = 'allowed' | 'blocked';

export const NO_SENDERS: SenderLists = { allowed: [], blocked: [] };

/** Returns the form in which an address or a domain is stored; undefined for other texts. A domain may have an `@` before it. */
export function canonicalSender(text: string): string | undefined {
  const name = text.trim();
  if (name.indexOf('@') > 0) return canonicalAddress(name);
  return parseSender(`x@${name.replace(/^@/, '')}`)?.domain;
}

export class ListedSenders {
  readonly #verdicts = new Map<string, SenderVerdict>();

  /** The names must be canonical. */
  constructor({ allowed, blocked }: SenderLists) {
    for (const name of allowed) this.#verdicts.set(name, 'allowed');
    for (const name of blocked) this.#verdicts.set(name, 'blocked');
  }

  /** Undefined when neither list names the author. */
  verdictOf(fromAddress: string): SenderVerdict | undefined {
    if (this.#verdicts.size === 0) return undefined;
    const address = canonicalAddress(fromAddress);
    if (address === undefined) return undefined;
    const exact = this.#verdicts.get(address);
    if (exact !== undefined) return exact;
    let domain = address.slice(address.lastIndexOf('@') + 1);
    for (;;) {
      const verdict = this.#verdicts.get(domain);
      const dot = domain.indexOf('.');
      if (verdict !== undefined || dot < 0) return verdict;
      domain = domain.slice(dot + 1);
    }
  }
}

function canonicalAddress(text: string): string | undefined {
  const address = parseSender(text);
  return address && `${address.localPart.toLowerCase()}@${address.domain}`;
}
