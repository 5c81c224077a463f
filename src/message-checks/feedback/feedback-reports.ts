// What feedback reports of other servers say about a hosted domain: aggregate reports of DMARC (RFC 7489 appendix C, RFC 9990) and of TLS
// (RFC 8460), reduced to what `mansio reports` shows.

/** The messages of one source with the same results. */
export interface DmarcSum {
  /** The IP address that sent the messages, in canonical form; `OTHER_SOURCES` for those beyond the bound. */
  readonly source: string;
  /** Whether DKIM passes for a domain that is aligned with the author's; `spf` likewise. */
  readonly dkim: boolean;
  readonly spf: boolean;
  readonly disposition: Disposition;
  readonly messages: number;
}

export const DISPOSITIONS = ['none', 'quarantine', 'reject'] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** The sessions of one mail host with the same result. */
export interface TlsSum {
  /** `sts`, `tlsa` or `no-policy-found`. */
  readonly policyType: string;
  /** The mail host; '' where the report names none. */
  readonly host: string;
  /** `success`, or the type of the failure (RFC 8460 §4.3). */
  readonly result: string;
  readonly sessions: number;
}

interface Report {
  /** The hosted domain, or a subdomain of one; lower case, A-labels. */
  readonly domain: string;
  /** As the report names its author: nobody has verified it. */
  readonly organization: string;
  /** Unique among the reports of one author. */
  readonly reportId: string;
  /** The start of the period, in ms since the epoch. */
  readonly begin: number;
}

export interface DmarcReport extends Report {
  readonly kind: 'dmarc';
  readonly sums: readonly DmarcSum[];
}

export interface TlsReport extends Report {
  readonly kind: 'tls';
  readonly sums: readonly TlsSum[];
}

export type FeedbackReport = DmarcReport | TlsReport;

/** Stands for the sources, or hosts, beyond the bound. */
export const OTHER_SOURCES = '*';
/** The sums of one report: further sources are summed under `OTHER_SOURCES`. */
export const MOST_SUMS = 1_000;

/** Characters of a text that a report chose. */
const LONGEST_TEXT = 200;

/** The text is no report that can be read. The message says why, and quotes nothing. */
export class UnreadableReport extends Error {
  override readonly name = 'UnreadableReport';
}

/** @throws UnreadableReport when the text is empty or longer than any genuine one */
export function reportText(text: string, what: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  if (plain === '' || plain.length > LONGEST_TEXT) throw new UnreadableReport(`${what} is missing or too long`);
  return plain;
}

const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** @throws UnreadableReport */
export function reportDomain(text: string): string {
  const domain = text.trim().toLowerCase().replace(/\.$/, '');
  if (!DOMAIN.test(domain)) throw new UnreadableReport('the domain is no name');
  return domain;
}

/** Adds up counts by key; the keys beyond `MOST_SUMS` share the key that `other` gives. */
export class BoundedSums<T> {
  readonly #sums = new Map<string, { readonly value: T; count: number }>();
  readonly #other: (value: T) => T;

  constructor(other: (value: T) => T) {
    this.#other = other;
  }

  /** @throws UnreadableReport when the sum is no number that the store takes */
  add(value: T, count: number): void {
    const key = JSON.stringify(value);
    const isKnown = this.#sums.has(key) || this.#sums.size < MOST_SUMS;
    const counted = isKnown ? value : this.#other(value);
    const at = isKnown ? key : JSON.stringify(counted);
    const sum = this.#sums.get(at) ?? { value: counted, count: 0 };
    sum.count += count;
    if (!Number.isSafeInteger(sum.count)) throw new UnreadableReport('a sum is too large');
    this.#sums.set(at, sum);
  }

  get entries(): readonly (readonly [value: T, count: number])[] {
    return [...this.#sums.values()].map(({ value, count }) => [value, count]);
  }
}
