// Node's agents for http and https with a limit on the idle connections of all hosts together, because an agent limits only those of one
// host. A connection beyond the limit is closed when its request has ended.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { HttpClientLimits } from './limits.js';

export type ConnectionAgent = HttpAgent | HttpsAgent;

/** The hook that Node documents for agents; the types of this Node version lack the hook. */
interface Keeping {
  keepSocketAlive(socket: unknown): boolean;
}

export interface ConnectionPool {
  agentOf(url: URL): ConnectionAgent;
  /** Closes idle connections. */
  close(): void;
}

/** The time in ms before the next of several addresses is tried; Node's default of 250 ms is too short for distant hosts. */
const NEXT_ADDRESS_MS = 2_000;

/** `ca` is in PEM; when absent, the authorities of the system are used. */
export function createConnectionPool(
  { idle, idlePerHost, idleMs }: Pick<HttpClientLimits, 'idle' | 'idlePerHost' | 'idleMs'>,
  ca: string | undefined,
): ConnectionPool {
  const kept = {
    keepAlive: true,
    maxFreeSockets: idlePerHost,
    timeout: idleMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
  };
  const plain = new HttpAgent(kept);
  // Certificates are verified whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const secured = new HttpsAgent({ ...kept, rejectUnauthorized: true, minVersion: 'TLSv1.2', ca });
  const agents = [plain, secured];
  const isFull = () =>
    agents.reduce((sum, { freeSockets }) => sum + Object.values(freeSockets).flat().length, 0) >= idle;
  for (const agent of agents as unknown as Keeping[]) {
    const keep = agent.keepSocketAlive.bind(agent);
    agent.keepSocketAlive = (socket) => !isFull() && keep(socket);
  }
  return {
    agentOf: ({ protocol }) => (protocol === 'https:' ? secured : plain),
    close() {
      for (const agent of agents) agent.destroy();
    },
  };
}
