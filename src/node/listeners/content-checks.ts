// The content checks of a node: one chain for mail that arrives, and one for mail that accounts send by SMTP or HTTP. The listeners share
// them, so that the limits of a check hold for all.
import { CheckChain } from '../../message-checks/check-chain.js';
import type { CheckedPeer, ContentCheck } from '../../message-checks/content-check.js';
import { dmarcCheck } from '../../message-checks/dmarc-check.js';
import { networkOf } from '../../net/tcp/ip-address.js';
import type { Config } from '../config/config.js';
import type { Observability } from '../observability.js';
import type { Resources } from '../resources.js';

export interface ContentChecks {
  readonly incoming: CheckChain;
  readonly submitted: CheckChain;
}

export async function openContentChecks(
  config: Config,
  { log }: Resources,
  { metrics }: Observability,
): Promise<ContentChecks> {
  const rspamd = await rspamdChecks(config);
  // A check runs after those before it.
  return {
    incoming: new CheckChain([dmarcCheck(config.dmarcReject), ...rspamd], log, metrics?.checks),
    submitted: new CheckChain(rspamd, log, metrics?.checks),
  };
}

async function rspamdChecks(config: Config): Promise<readonly ContentCheck[]> {
  const { rspamdUrl, hostname, contentCheckFailure } = config;
  if (rspamdUrl === undefined) return [];
  const [{ rspamdCheck }, { RspamdServer }] = await Promise.all([
    import('../../message-checks/rspamd/rspamd-check.js'),
    import('../../message-checks/rspamd/rspamd-server.js'),
  ]);
  const onFault = contentCheckFailure === 'defer' ? 'defer' : 'skip';
  const holderOf = ({ accountId, remoteAddress }: CheckedPeer) => accountId ?? networkOf(remoteAddress);
  return [rspamdCheck({ server: new RspamdServer(rspamdUrl), hostname, onFault, holderOf })];
}
