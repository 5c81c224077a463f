// DNS look-ups for mail, with a time limit and a bounded cache. The resolver asks the given name servers or those of the system,
// and never reads the hosts file. When no server answers, look-ups fail at once for a short time, so that incoming mail does not
// wait for each of its names.
import { Resolver } from 'node:dns/promises';
import { Fault } from '../../concurrency/fault.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import { reverseName } from './reverse-name.js';

export interface MxRecord {
  readonly priority: number;
  readonly exchange: string;
}

interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly name: string;
}

interface Records {
  A: string[];
  AAAA: string[];
  MX: MxRecord[];
  TXT: string[][];
  PTR: string[];
  CNAME: string[];
  SRV: SrvRecord[];
}
export type RecordType = keyof Records;

/** A look-up without an answer. `code` is Node's (`ENOTFOUND`, `ENODATA`, `ESERVFAIL`, `ETIMEOUT`, …). */
export class DnsFailure extends Fault {
  /** The fault is permanent when DNS said that the name or record does not exist: asking again does not help. */
  constructor(code: string, name: string, type: string) {
    super(code, `${type} of ${name}: ${code}`, { temporary: !ABSENT.has(code) });
  }
}

export interface Dns {
  /** Works like `dns.promises.resolve`, and takes the address for PTR; callers must not change the answer, which is shared. @throws DnsFailure */
  resolve<T extends RecordType>(name: string, type: T): Promise<Records[T]>;
}

export interface ResolverOptions {
  /** `address:port`; absent: the servers of the system. */
  readonly servers?: readonly string[] | undefined;
  /** Limit for one try of one server, in ms. */
  readonly timeoutMs?: number;
  readonly tries?: number;
  /** When it aborts, look-ups under way fail, so that they do not keep a process alive. */
  readonly signal?: AbortSignal;
}

/** DNS answered that the name does not exist, has no such record, or is not a valid name. */
const ABSENT: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY', 'EFORMERR']);
const UNANSWERED: ReadonlySet<string> = new Set(['ETIMEOUT', 'ECONNREFUSED']);
const REMEMBERED = 20_000;
/** Node reports no TTL for most types; mail tolerates records of this age. */
const FOUND_MS = 60_000;
const ABSENT_MS = 30_000;
const FAILED_MS = 5_000;
/** After this many look-ups in a row that no server answered, the resolver checks whether any server answers at all. */
const SILENT_AFTER = 5;
const SILENT_MS = 10_000;
/** Look-ups that ask once more at a time: each has a socket. */
const MOST_FURTHER = 100;

type Remembered = { readonly found: unknown } | { readonly failed: DnsFailure };

export function createResolver(options: ResolverOptions = {}): Dns {
  const { resolver, answerFor } = asking(options);
  const remembered = lruCache<string, Remembered>(REMEMBERED);
  const underWay = new Map<string, Promise<unknown>>();
  let unanswered = 0;
  let silentUntil = 0;

  /**
   * A peer may control the names that got no answer, so this asks for the root: any reply, even an error, shows that a server is
   * alive.
   */
  async function isSilent(): Promise<boolean> {
    try {
      await resolver.resolve('.', 'NS');
      return false;
    } catch (error) {
      return UNANSWERED.has((error as NodeJS.ErrnoException).code ?? '');
    }
  }

  async function resolve(name: string, type: RecordType, key: string): Promise<unknown> {
    if (performance.now() < silentUntil) throw new DnsFailure('ETIMEOUT', name, type);
    try {
      const found = await answerFor(name, type);
      unanswered = 0;
      remembered.set(key, { found }, { ttl: FOUND_MS });
      return found;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'ESERVFAIL';
      const failed = new DnsFailure(code, name, type);
      if (!UNANSWERED.has(code)) unanswered = 0;
      else if (++unanswered >= SILENT_AFTER) {
        unanswered = 0;
        if (await isSilent()) silentUntil = performance.now() + SILENT_MS;
      }
      remembered.set(key, { failed }, { ttl: failed.temporary ? FAILED_MS : ABSENT_MS });
      throw failed;
    }
  }

  return {
    async resolve<T extends RecordType>(name: string, type: T): Promise<Records[T]> {
      const key = `${type} ${name.toLowerCase()}`;
      const known = remembered.get(key);
      if (known !== undefined) {
        if ('failed' in known) throw known.failed;
        return known.found as Records[T];
      }
      let asked = underWay.get(key);
      if (asked === undefined) {
        asked = resolve(name, type, key).finally(() => underWay.delete(key));
        underWay.set(key, asked);
      }
      return (await asked) as Records[T];
    },
  };
}

interface Asking {
  readonly resolver: Resolver;
  /** Rejects with the error of Node.js. */
  answerFor(name: string, type: RecordType): Promise<unknown>;
}

function asking({ servers, timeoutMs = 2_000, tries = 2, signal }: ResolverOptions): Asking {
  const newResolver = (tries: number): Resolver => {
    const made = new Resolver({ timeout: timeoutMs, tries });
    if (servers !== undefined) made.setServers([...servers]);
    return made;
  };
  const resolver = newResolver(tries);
  /** Those that ask once more. */
  const further = new Set<Resolver>();
  signal?.addEventListener('abort', () => [resolver, ...further].map((each) => each.cancel()), { once: true });
  /**
   * c-ares (1.32 and later) gives a server that has answered quickly as little as 250 ms for a try, whatever limit it is given. A name that
   * takes longer is asked for once more, by a resolver that knows nothing of the server.
   */
  async function answerFor(name: string, type: RecordType): Promise<unknown> {
    const began = performance.now();
    try {
      return await ask(resolver, name, type);
    } catch (error) {
      const isEarly = performance.now() - began < timeoutMs * tries && signal?.aborted !== true;
      const mayAsk = isEarly && further.size < MOST_FURTHER;
      if ((error as NodeJS.ErrnoException).code !== 'ETIMEOUT' || !mayAsk) throw error;
    }
    const again = newResolver(1);
    further.add(again);
    try {
      return await ask(again, name, type);
    } finally {
      further.delete(again);
    }
  }
  return { resolver, answerFor };
}

async function ask(resolver: Resolver, name: string, type: RecordType): Promise<unknown> {
  if (type === 'PTR') {
    // `reverse` of Node.js would read the hosts file.
    const reversed = reverseName(name);
    if (reversed === undefined) throw Object.assign(new Error('not an address'), { code: 'ENOTFOUND' });
    return resolver.resolvePtr(reversed);
  }
  if (type !== 'MX') return resolver.resolve(name, type);
  // Node.js 24 and later add a `type` to each record; drop it.
  return (await resolver.resolveMx(name)).map(({ priority, exchange }) => ({ priority, exchange }));
}
