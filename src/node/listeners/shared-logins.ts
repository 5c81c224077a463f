// Shares the guards of logins between the nodes over the bus: each node publishes at intervals the counts of its guard, and learns those of
// the others. This is best effort: a lost packet makes a guard count less, and a starting node begins with nothing. It never causes
// the refusal of a correct credential.
import { type LoginsPacket, PACKET_VERSION, type RecheckPacket } from '../../actors/runtime/transport/packet.js';
import { LOGINS_SUBJECT } from '../../actors/runtime/transport/subjects.js';
import type { Transport } from '../../actors/runtime/transport/transport.js';
import type { LoginGuard } from '../../auth/login-guard.js';

export interface SharedLoginsOptions {
  readonly guard: Pick<LoginGuard, 'learn' | 'takeNotice'>;
  readonly transport: Pick<Transport, 'publish' | 'subscribe'>;
  readonly nodeId: string;
  readonly intervalMs?: number;
}

/** The shortest interval between two notices of the node. */
const INTERVAL_MS = 250;

/** Returns the function that ends it, which first publishes the remaining counts. */
export function shareLogins({ guard, transport, nodeId, intervalMs = INTERVAL_MS }: SharedLoginsOptions): () => void {
  const registration = transport.subscribe<LoginsPacket | RecheckPacket>(LOGINS_SUBJECT, (packet) => {
    if (packet.kind === 'logins' && packet.node !== nodeId) guard.learn(packet);
  });
  const publish = () => {
    const notice = guard.takeNotice();
    if (notice === undefined) return;
    transport.publish(LOGINS_SUBJECT, { v: PACKET_VERSION, kind: 'logins', node: nodeId, ...notice });
  };
  const timer = setInterval(publish, intervalMs).unref();
  return () => {
    clearInterval(timer);
    publish();
    registration.end();
  };
}
