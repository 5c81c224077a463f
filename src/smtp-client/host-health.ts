// What connections have taught: addresses that do not answer, hosts that asked to be left alone (421), hosts whose TLS does
// not work, and address families that lead nowhere from this machine. It saves the time of finding out again for every
// message; it forgets soon, and never decides about mail by itself.
import { LRUCache } from 'lru-cache';

const REMEMBERED = 10_000;
/** As long as the shortest delay between two attempts, or a silent host would never be asked again. */
const SILENT_MS = 45_000;
const NO_TLS_MS = 600_000;
const FAMILY_MS = 600_000;
/** Of a family whose connections time out; where there is no route at all, one failure is enough. */
const FAMILY_FAILURES = 3;
const LONGEST_REST_MS = 60_000;
const NO_ROUTE: ReadonlySet<string> = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

interface Rest {
  readonly until: number;
  readonly ms: number;
  readonly reply: string;
}

export class HostHealth {
  readonly #silent = new LRUCache<string, { readonly why: string }>({ max: REMEMBERED, ttl: SILENT_MS });
  readonly #rests = new LRUCache<string, Rest>({ max: REMEMBERED, ttl: 2 * LONGEST_REST_MS });
  readonly #noTls = new LRUCache<string, true>({ max: REMEMBERED, ttl: NO_TLS_MS });
  readonly #restMs: number;
  readonly #families = { 4: { failures: 0, until: 0 }, 6: { failures: 0, until: 0 } };

  /** `restMs`: for how long a host is left alone the first time. */
  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  /** The same addresses without those of a family that leads nowhere, unless all are; families take turns. */
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

  /** Why it was silent a moment ago; undefined when it was not. */
  silence(address: string): string | undefined {
    return this.#silent.get(address)?.why;
  }

  connected(address: string): void {
    this.#families[familyOf(address)].failures = 0;
  }

  /** `code` of the system. */
  unreachable(address: string, code: string): void {
    const family = this.#families[familyOf(address)];
    if (NO_ROUTE.has(code)) family.failures = FAMILY_FAILURES;
    else if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH') family.failures++;
    if (family.failures >= FAMILY_FAILURES) {
      family.failures = 0;
      family.until = performance.now() + FAMILY_MS;
    }
  }

  /** It took long to find out. */
  silent(address: string, why: string): void {
    this.#silent.set(address, { why });
  }

  /** It has taken or refused mail as a mail server does. */
  spoke(address: string): void {
    this.#silent.delete(address);
    this.#rests.delete(address);
  }

  /** It closes connections (421): it is left alone, longer each time. */
  closed(address: string, reply: string): void {
    const known = this.#rests.get(address);
    const now = performance.now();
    if (known !== undefined && known.until > now) return;
    const ms = known === undefined ? this.#restMs : Math.min(LONGEST_REST_MS, 2 * known.ms);
    this.#rests.set(address, { until: now + ms, ms, reply });
  }

  /** For how long it is still left alone, and what it said; undefined when it is not. */
  rest(address: string): { readonly ms: number; readonly reply: string } | undefined {
    const rest = this.#rests.get(address);
    const ms = rest === undefined ? 0 : rest.until - performance.now();
    return rest !== undefined && ms > 0 ? { ms, reply: rest.reply } : undefined;
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
