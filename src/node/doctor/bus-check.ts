// The check `nats`: whether each server of NATS_URL takes this node.
import { askNatsServer } from '../../actors/runtime/transport/transport-nats.js';
import { withoutPassword } from '../config/values.js';
import type { NodeCheck } from './check.js';
import { encryptionOf } from './encryption.js';
import { type CheckResult, ok, reasonOf, warn } from './finding.js';

export const busCheck: NodeCheck = {
  name: 'nats',
  async run({ config, dialMs }) {
    const { natsUrl = [] } = config;
    if (natsUrl.length === 0) return [ok('NATS_URL', 'not set: the node is alone')];
    // One server that answers carries the cluster.
    const found = await Promise.all(natsUrl.map((url) => serverOf(url, dialMs)));
    const isUsable = found.some(({ status }) => status === 'ok');
    const servers = found.map((each) =>
      each.status === 'ok' || isUsable ? each : { ...each, status: 'fail' as const },
    );
    return [...servers, ...encryptionOf('NATS_URL', config)];
  },
};

async function serverOf(url: string, timeoutMs: number): Promise<CheckResult> {
  const subject = new URL(withoutPassword(url)).host;
  try {
    return ok(subject, `nats-server ${await askNatsServer(url, timeoutMs / 2)} takes this node`);
  } catch (error) {
    return warn(subject, reasonOf(error), 'systemctl restart nats-server');
  }
}
