// The checks of the cluster and of the mail that waits in it: `nodes`, `queue`, `unclaimed`.
import type { NodeRow } from '../../store/leases.js';
import type { NodeCheck } from './check.js';
import { type CheckResult, counted, fail, ok, sizeOf, spanOf, warn } from './finding.js';
import { livingNodes } from './subject.js';

/** As in health: due mail begins within a second or two. */
const LATE_MS = 60_000;
const STUCK_MS = 3_600_000;
/** A node that restarts is back within this time. */
const ABSENCE_MS = 60_000;
/** What a node places later is placed within seconds. */
const UNPLACED_MS = 60_000;

export const nodesCheck: NodeCheck = {
  name: 'nodes',
  async run({ facts, version }) {
    if (facts === undefined) return [warn('nodes', 'not checked: the database does not answer', 'mansio doctor')];
    const living = livingNodes(facts);
    if (living.length === 0) return [fail('nodes', 'no node runs on this store', 'systemctl start mansio')];
    const newest = newestOf([version, ...living.map((node) => node.version)]);
    const silent = facts.view.nodes.filter((node) => node.expired && node.silentMs > ABSENCE_MS);
    return [...living.map((node) => livingNode(node, newest)), ...silent.map(silentNode)];
  },
};

function livingNode({ id, version, state, roles, startedAt }: NodeRow, newest: string): CheckResult {
  if (version !== newest)
    return warn(id, `runs ${version}, and ${newest} is installed or runs elsewhere`, 'systemctl restart mansio');
  if (state === 'cut off')
    return warn(
      id,
      'reaches the database, and no other node: NATS does not answer it',
      'systemctl restart nats-server',
    );
  return ok(
    id,
    `runs ${version} since ${new Date(startedAt).toISOString()}, ${state}, with ${counted(roles.length, 'role')}`,
  );
}

/** The store forgets a node that was not stopped after a day. */
function silentNode({ id, silentMs }: NodeRow): CheckResult {
  return warn(id, `has been silent for ${spanOf(silentMs)}, and was not stopped`, 'systemctl start mansio');
}

function newestOf(versions: readonly string[]): string {
  return [...versions].sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0]!;
}

export const queueCheck: NodeCheck = {
  name: 'queue',
  async run({ store }) {
    const [overdueMs, inboundMs, awaiting] = await Promise.all([
      store.overdueMs(),
      store.inboundOldestMs(),
      store.awaitingRelease(),
    ]);
    const restored = warn(
      'restored',
      `${counted(awaiting, 'email')} of a backup not delivered`,
      'mansio queue release',
    );
    return [outgoing(overdueMs), incoming(inboundMs ?? 0), ...(awaiting > 0 ? [restored] : [])];
  },
};

function outgoing(overdueMs: number): CheckResult {
  const fix = 'mansio queue list --status Queued';
  const detail = `the first email has been due for ${spanOf(overdueMs)}`;
  if (overdueMs > STUCK_MS) return fail('outbound', detail, fix);
  return overdueMs > LATE_MS ? warn('outbound', detail, fix) : ok('outbound', 'nothing is late');
}

function incoming(oldestMs: number): CheckResult {
  if (oldestMs <= UNPLACED_MS) return ok('inbound', 'accepted mail is in its mailboxes');
  const detail = `accepted mail has waited for its mailbox for ${spanOf(oldestMs)}`;
  return fail('inbound', detail, 'mansio cluster status');
}

export const unclaimedCheck: NodeCheck = {
  name: 'unclaimed',
  async run({ store }) {
    const waiting = (await store.unclaimed()).filter(({ messages }) => messages > 0);
    if (waiting.length === 0) return [ok('unclaimed', 'no mail waits for an unknown address')];
    const messages = waiting.reduce((sum, each) => sum + each.messages, 0);
    const octets = waiting.reduce((sum, each) => sum + each.bytes, 0);
    const detail = `${counted(messages, 'message')} (${sizeOf(octets)}) for ${counted(waiting.length, 'unknown address', 'unknown addresses')}, kept for 30 days`;
    return [warn('unclaimed', detail, 'mansio unclaimed list')];
  },
};
