// Shares the guards of logins between the nodes over the bus: each node publishes at intervals what its guard has counted, and
// learns what the others publish. Best effort: a packet that is lost makes a guard count less, and a node that starts begins
// with nothing. No right credential is refused for that.
import { type LoginsPacket, PACKET_VERSION, type RecheckPacket } from '../actors/runtime/packet.js';
import { LOGINS_SUBJECT } from '../actors/runtime/subjects.js';
import type { Transport } from '../actors/runtime/transport.js';
import type { LoginGuard } from '../auth/login-guard.js';

export interface SharedLoginsOptions {
  readonly guard: Pick<LoginGuard, 'learn' | 'takeNotice'>;
  readonly transport: Pick<Transport, 'publish' | 'subscribe'>;
  readonly nodeId: string;
  readonly intervalMs?: number;
}

/** At most this often the node publishes. */
const INTERVAL_MS = 250;

/** Returns how to end it; what is not published yet is published then. */
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
