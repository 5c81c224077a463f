// The feedback reports on the node that owns the first shard: those of other servers are read, and those to others are sent.
import { mailboxesOf } from '../../actors/directory/protocol.js';
import { dmarcReports } from '../../message-checks/feedback/own/dmarc-reports.js';
import { type ReportSender, startReportSending } from '../../message-checks/feedback/own/report-sending.js';
import { tlsReports } from '../../message-checks/feedback/own/tls-reports.js';
import { startReportReading } from '../../message-checks/feedback/reading/report-reading.js';
import { createResolver } from '../../net/dns/resolver.js';
import { createHttpClient } from '../../net/http-client/http-client.js';
import { clock } from '../../store/clock.js';
import { automaticMail } from './automatic-mail.js';
import type { ClusterAccess } from './cluster.js';
import { addJob, type EngineContext } from './engine-context.js';
import type { EngineMailboxes } from './mailboxes.js';
import type { EngineStores } from './stores.js';

/** The shard whose owner does the work for the cluster. */
const CHOSEN_SHARD = 0;

type Stores = Pick<EngineStores, 'accounts' | 'arrivedReports' | 'ownReports' | 'ownTlsReports' | 'blobs'>;
type Actors = Pick<EngineMailboxes, 'directory' | 'mailboxes'>;

export function startFeedback(
  context: EngineContext,
  ownership: Pick<ClusterAccess['ownership'], 'owned'>,
  stores: Stores,
  actors: Actors,
): void {
  const { accounts, arrivedReports, blobs } = stores;
  const { config, log, observability } = context;
  const over = new AbortController();
  const shared = {
    dns: createResolver({ servers: config.dns, signal: over.signal }),
    isChosen: () => ownership.owned.includes(CHOSEN_SHARD),
    now: () => clock.now(),
    log,
  };
  const hostedDomains = async () => (await accounts.domains()).map(({ name }) => name);
  const reading = startReportReading({
    ...shared,
    store: arrivedReports,
    blobs,
    hostedDomains,
    ...(observability.metrics && { meter: observability.metrics.feedback }),
  });
  const sending = config.reports === 'on' ? startSending(context, shared, stores, actors) : undefined;
  addJob(context, 'feedback reports', async () => {
    over.abort();
    await Promise.all([reading.stop(), sending?.stop()]);
  });
}

interface Shared extends Pick<Parameters<typeof dmarcReports>[0], 'dns' | 'now'> {
  isChosen(): boolean;
  readonly log: EngineContext['log'];
}

function startSending(
  { config }: EngineContext,
  shared: Shared,
  { accounts, ownReports, ownTlsReports, blobs }: Stores,
  { directory, mailboxes }: Actors,
): { stop(): Promise<void> } {
  const { hostname } = config;
  const mailing = {
    ...shared,
    hostname,
    sender: async () =>
      senderAmong(
        (await accounts.domains()).map(({ name }) => name),
        hostname,
        directory,
      ),
    send: automaticMail(blobs, mailboxes),
  };
  const http = createHttpClient({ dns: shared.dns, allowPrivate: config.outboundAllowPrivate });
  const jobs = [
    dmarcReports({ ...mailing, store: ownReports }),
    tlsReports({ ...mailing, store: ownTlsReports, queue: ownReports, http }),
  ].map((reports) => startReportSending(reports, shared));
  return {
    async stop() {
      await Promise.all(jobs.map((job) => job.stop()));
      http.close();
    },
  };
}

/** The first account that has `postmaster@` a hosted domain; the domain of the hostname is preferred. */
async function senderAmong(
  domains: readonly string[],
  hostname: string,
  directory: Actors['directory'],
): Promise<ReportSender | undefined> {
  const isNear = (domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);
  const [near, others] = [domains.filter(isNear), domains.filter((domain) => !isNear(domain))];
  for (const domain of [...near, ...others.toSorted()]) {
    const address = `postmaster@${domain}`;
    for (const mailbox of mailboxesOf(await directory.recipient(address)))
      if (mailbox.kind === 'mailbox' && mailbox.unclaimedAddress === undefined)
        return { accountId: mailbox.accountId, address, domain };
  }
  return undefined;
}
