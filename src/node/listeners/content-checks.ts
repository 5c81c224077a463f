// The content checks of a node: one chain for mail that arrives, and one for mail that accounts send by SMTP or HTTP. The listeners share
// them, so that the limits of a check hold for all.
import { CheckChain } from '../../message-checks/check-chain.js';
import { blockListCheck } from '../../message-checks/clients/block-list-check.js';
import { BlockLists } from '../../message-checks/clients/block-lists.js';
import { greylistCheck } from '../../message-checks/clients/greylist-check.js';
import type { CheckedPeer, ClientCheck, ContentCheck } from '../../message-checks/content-check.js';
import { dmarcCheck } from '../../message-checks/dmarc-check.js';
import { DmarcTally } from '../../message-checks/feedback/own/dmarc-tally.js';
import type { Dns } from '../../net/dns/resolver.js';
import { networkOf } from '../../net/tcp/ip-address.js';
import { clock } from '../../store/clock.js';
import { postgresGreylist } from '../../store/postgres/mailbox/greylist.js';
import type { Config } from '../config/config.js';
import type { Engine } from '../engine/engine.js';
import type { Observability } from '../observability.js';
import type { Resources } from '../resources.js';

export interface ContentChecks {
  readonly incoming: CheckChain;
  readonly submitted: CheckChain;
  /** Judges clients at MX; undefined where no list refuses any. */
  readonly client: ClientCheck | undefined;
}

export async function openContentChecks(
  config: Config,
  resources: Resources,
  engine: Pick<Engine, 'ownReports'>,
  { metrics }: Observability,
  dns: Dns,
): Promise<ContentChecks> {
  const { log, sql, breaker } = resources;
  const dmarc = dmarcCheck(config.dmarcReject, dmarcCounts(config, resources, engine));
  const rspamd = await rspamdChecks(config);
  const { dnsbl: lists } = config;
  const blockLists =
    lists.length > 0 && config.roles.has('mx')
      ? new BlockLists({ lists, dns, log, ...(metrics && { meter: metrics.blockLists }) })
      : undefined;
  const dnsbl =
    blockLists !== undefined && lists.some(({ action }) => action === 'junk') ? [blockListCheck(blockLists)] : [];
  const greylist =
    config.greylist === 'doubtful' && config.roles.has('mx')
      ? [greylistCheck(breaker.guard(postgresGreylist(sql)), dns)]
      : [];
  // A check runs after those before it.
  return {
    incoming: new CheckChain([dmarc, ...dnsbl, ...rspamd, ...greylist], log, metrics?.checks),
    submitted: new CheckChain(rspamd, log, metrics?.checks),
    client: lists.some(({ action }) => action === 'refuse') ? blockLists : undefined,
  };
}

const COUNTS_MS = 500;

/** They are written after the listeners, which add to them, have closed. */
function dmarcCounts(
  { reports, roles }: Config,
  { log, lifecycle }: Resources,
  { ownReports }: Pick<Engine, 'ownReports'>,
): DmarcTally | undefined {
  if (reports === 'off' || !roles.has('mx')) return undefined;
  const tally = new DmarcTally({ store: ownReports, now: () => clock.now(), log });
  lifecycle.add('counts of DMARC', () => tally.close(), COUNTS_MS, COUNTS_MS);
  return tally;
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
