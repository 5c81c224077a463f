// Hosts that must not be connected to now: those that did not answer, and those that close connections (421). Only this file knows them; it
// also knows hosts whose TLS fails and address families without a route. All of this saves time for the next message, is soon forgotten,
// and never makes a failure permanent by itself.
import { Backoff } from '../../concurrency/backoff.js';
import { lruCache } from '../../concurrency/lru-cache.js';

const REMEMBERED = 10_000;
/** This is as long as the shortest delay between two attempts; a longer time would exclude a silent host from every attempt. */
const SILENT_MS = 45_000;
const NO_TLS_MS = 600_000;
const FAMILY_MS = 600_000;
/** The failures after which a family whose connections time out is avoided; when there is no route at all, one is enough. */
const FAMILY_FAILURES = 3;
const LONGEST_CLOSING_MS = 60_000;
const NO_ROUTE: ReadonlySet<string> = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

export interface NotNow {
  readonly kind: 'silent' | 'closing';
  /** The time for which the host is not connected to. */
  readonly ms: number;
  /** `silent`: what went wrong; `closing`: the reply. */
  readonly reason: string;
}

export class HostHealth {
  readonly #silent = new Backoff<string>({ firstMs: SILENT_MS, longestMs: SILENT_MS, most: REMEMBERED });
  readonly #closing: Backoff<string>;
  readonly #noTls = lruCache<string, true>(REMEMBERED, { ttl: NO_TLS_MS });
  readonly #families = { 4: { failures: 0, until: 0 }, 6: { failures: 0, until: 0 } };

  /** `closingMs` is how long a host that closes connections is not connected to, the first time. */
  constructor(closingMs: number) {
    this.#closing = new Backoff({ firstMs: closingMs, longestMs: LONGEST_CLOSING_MS, most: REMEMBERED });
  }

  /** Returns the same addresses without those of a family that has no route, unless that removes all; families alternate. */
  order(addresses: readonly string[]): readonly string[] {
    const now = performance.now();
    const [six, four] = [addresses.filter((address) => isV6(address)), addresses.filter((address) => !isV6(address))];
    if (six.length === 0 || four.length === 0) return addresses;
    if (this.#families[6].until > now) return four;
    if (this.#families[4].until > now) return six;
    const mixed: string[] = [];
    for (let i = 0; i < Math.max(six.length, four.length); i++) {
      mixed.push(...six.slice(i, i + 1), ...four.slice(i, i + 1));
    }
    return mixed;
  }

  /** Returns why the host must not be connected to now; undefined when it may be. */
  notNow(address: string): NotNow | undefined {
    const [closing, silent] = [this.#closing.of(address), this.#silent.of(address)];
    if (closing !== undefined && closing.ms >= (silent?.ms ?? 0)) return { kind: 'closing', ...closing };
    return silent && { kind: 'silent', ...silent };
  }

  connected(address: string): void {
    this.#families[familyOf(address)].failures = 0;
  }

  /** `code` is the error code of the system. */
  unreachable(address: string, code: string): void {
    const family = this.#families[familyOf(address)];
    if (NO_ROUTE.has(code)) family.failures = FAMILY_FAILURES;
    else if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH') family.failures++;
    if (family.failures >= FAMILY_FAILURES) {
      family.failures = 0;
      family.until = performance.now() + FAMILY_MS;
    }
  }

  /** Called when the host did not answer within a time limit. */
  silent(address: string, reason: string): void {
    this.#silent.failed(address, reason);
  }

  /** Called when the host has accepted or refused mail as a mail server does. */
  answered(address: string): void {
    this.#silent.succeeded(address);
    this.#closing.succeeded(address);
  }

  /** Called when the host closes connections (421): it is then not connected to, each time for longer. */
  closing(address: string, reply: string): void {
    this.#closing.failed(address, reply);
  }

  tlsFailed(address: string): void {
    this.#noTls.set(address, true);
  }

  hasTls(address: string): boolean {
    return !this.#noTls.has(address);
  }
}

function isV6(address: string): boolean {
  return address.includes(':');
}

function familyOf(address: string): 4 | 6 {
  return isV6(address) ? 6 : 4;
}
