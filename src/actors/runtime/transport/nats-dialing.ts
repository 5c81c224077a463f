// Decides when to try which bus server: for a few seconds at start, so that a wrong setting is reported; afterwards without end. The
// transport knows how to connect.
import type { Logger } from 'pino';
import { BusUnavailable, isRefusal, type NatsServer, whyNot } from './nats-servers.js';

/** Rejects when the server cannot be connected to within `timeoutMs`. */
export type Dial<C> = (server: NatsServer, timeoutMs: number) => Promise<C>;

/** How long the start tries, for servers that start together with this node. */
const START_MS = 5_000;
/** The timeout of one attempt: a server that hangs must not block the others. */
const DIAL_MS = 2_000;
/** A shorter attempt would tell nothing. */
const LEAST_MS = 500;
const WAIT_MS = 100;
const WAIT_JITTER_MS = 150;

interface Failure {
  readonly server: NatsServer;
  readonly error: unknown;
}

/** @throws BusUnavailable */
export async function dialAtStart<C>(servers: readonly NatsServer[], dial: Dial<C>): Promise<C> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    const tried = await dialEach(servers, dial, deadline);
    if ('connection' in tried) return tried.connection;
    const { failures } = tried;
    if (failures.every(({ error }) => isRefusal(error)) || performance.now() + LEAST_MS >= deadline) {
      throw new BusUnavailable(`no NATS server of NATS_URL can be used: ${reasons(failures)}`);
    }
    await pause();
  }
}

/** Returns undefined when `over` returns true. `lost`: the previous server, which is tried last. */
export async function dialForEver<C>(
  servers: readonly NatsServer[],
  lost: NatsServer,
  dial: Dial<C>,
  over: () => boolean,
  log: Logger,
): Promise<C | undefined> {
  let logged: string | undefined;
  while (!over()) {
    const tried = await dialEach(servers, dial, Number.POSITIVE_INFINITY, lost);
    if ('connection' in tried) return tried.connection;
    const why = reasons(tried.failures);
    if (why !== logged) log.warn({ why }, 'no NATS server can be reached');
    logged = why;
    await pause();
  }
  return undefined;
}

/** Tries every server once, in random order, so that nodes spread over the servers. A server whose host has vanished only costs time. */
async function dialEach<C>(
  servers: readonly NatsServer[],
  dial: Dial<C>,
  deadline: number,
  last?: NatsServer,
): Promise<{ readonly connection: C } | { readonly failures: readonly Failure[] }> {
  const failures: Failure[] = [];
  const inOrder = shuffled(servers).sort((a, b) => Number(a === last) - Number(b === last));
  for (const server of inOrder) {
    try {
      const left = Math.max(LEAST_MS, deadline - performance.now());
      return { connection: await dial(server, Math.min(DIAL_MS, left)) };
    } catch (error) {
      failures.push({ server, error });
    }
  }
  return { failures };
}

/** Sorted, so that the same reasons give the same text. */
function reasons(failures: readonly Failure[]): string {
  const words = failures.map(({ server, error }) => whyNot(server, error));
  return words.sort().join('; ');
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, WAIT_MS + Math.random() * WAIT_JITTER_MS));
}
