// The SMTP listeners of a node: MX for other servers, submission for the accounts' programs. They share one spool. `listeners` opens and
// stops them.

import { DEFAULT_LIMITS, type SmtpLimits } from '../../gateways/smtp/limits.js';
import type { SmtpListener } from '../../gateways/smtp/listener.js';
import { startMx } from '../../gateways/smtp/mx.js';
import { RefusalRecord } from '../../gateways/smtp/refusal-record.js';
import { startSubmission } from '../../gateways/smtp/submission.js';
import { ReportIntake } from '../../message-checks/feedback/reading/report-intake.js';
import type { Spool } from '../../message-content/spool/spool.js';
import type { Dns } from '../../net/dns/resolver.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import { postgresRefusals } from '../../store/postgres/mailbox/refusals.js';
import type { Config } from '../config/config.js';
import type { ListenerPort } from '../config/values.js';
import type { Engine } from '../engine/engine.js';
import type { Observability } from '../observability.js';
import { limitsOf, type ProcessShare, shareOfConnections } from '../processes/process-share.js';
import type { Resources } from '../resources.js';
import type { ContentChecks } from './content-checks.js';
import type { CredentialChecks } from './credential-checks.js';
import { onlyOpen, openListener, type StopListener } from './open-listener.js';

/** The open listeners by their names in the ready line. */
export type SmtpListeners = Readonly<Partial<Record<'mx' | 'submission' | 'submissions', SmtpListener>>>;

const REFUSALS_MS = 300;

export async function openSmtp(
  config: Config,
  resources: Resources,
  engine: Engine,
  { metrics, tracer }: Observability,
  { signIn }: CredentialChecks,
  contentChecks: ContentChecks,
  spool: Spool,
  dns: Dns,
  stops: StopListener[],
): Promise<SmtpListeners> {
  const { log, processShare } = resources;
  const { roles, bind, hostname, maxMessageSize, allowPlaintextAuth } = config;
  if (!roles.has('mx') && !roles.has('submission')) return {};
  const trusted = new TrustedNetworks(config.proxyNetworks);
  const { directory, inbound, inlineMessages, mailboxes, blobs, quotas } = engine;
  const limits = processShare === undefined ? {} : smtpLimitsOf(processShare);
  const shared = {
    bind,
    hostname,
    maxMessageSize,
    tls: resources.tls.certificates,
    trusted,
    log,
    tracer,
    directory,
    limits,
    refusals: openRefusals(resources),
  };

  // Only nodes that need the authenticator load it, because it is large.
  const authenticator = async () => {
    const { createAuthenticator } = await import('../../message-checks/mailauth/authenticator.js');
    return createAuthenticator({ dns, hostname, rejectsAnonymous: config.dmarcReject === 'reject', log });
  };
  const openMx = () =>
    openListener({ name: 'MX', variable: 'MANSIO_MX_PORT', bind, port: config.mxPort }, stops, async (port) =>
      startMx({
        ...shared,
        port,
        authenticate: await authenticator(),
        checks: contentChecks.incoming,
        clientCheck: contentChecks.client,
        quotas,
        feedback: new ReportIntake(engine.arrivedReports),
        receiver: { spool, inbound, inlineMessages, mailboxes },
        hostedDomains: async () => (await engine.accounts.domains()).map(({ name }) => name),
        ...(metrics && { meter: metrics.smtp }),
      }),
    );
  const openSubmission = (name: string, variable: string, wanted: ListenerPort, implicitTls: boolean) =>
    openListener({ name, variable, bind, port: wanted }, stops, (port) =>
      startSubmission({
        ...shared,
        port,
        implicitTls,
        allowPlaintextAuth,
        signIn,
        checks: contentChecks.submitted,
        receiver: { spool, blobs, inlineMessages, mailboxes, sending: engine.sending },
        ...(metrics && { meter: metrics.submission }),
      }),
    );

  const mx = roles.has('mx') ? await openMx() : undefined;
  if (mx !== undefined) metrics?.watchConnections('smtp', () => mx.connections);
  if (!roles.has('submission')) return onlyOpen({ mx });
  const [port, securePort] = [config.submissionPort, config.submissionsPort];
  const submission = await openSubmission('submission', 'MANSIO_SUBMISSION_PORT', port, false);
  const submissions = await openSubmission('submissions', 'MANSIO_SUBMISSIONS_PORT', securePort, true);
  metrics?.watchConnections('submission', () => (submission?.connections ?? 0) + (submissions?.connections ?? 0));
  return onlyOpen({ mx, submission, submissions });
}

/** It is closed after the listeners, which add to it. */
function openRefusals({ nodeId: node, sql, log, lifecycle, breaker }: Resources): RefusalRecord {
  const refusals = new RefusalRecord({ store: breaker.guard(postgresRefusals(sql)), node, log });
  lifecycle.add('refusals', () => refusals.close(), REFUSALS_MS, REFUSALS_MS);
  return refusals;
}

function smtpLimitsOf({ count }: ProcessShare): Partial<SmtpLimits> {
  const { connections, connectionsPerAddress, connectionsPerAccount } = limitsOf(DEFAULT_LIMITS, count);
  const stressConnections = shareOfConnections(DEFAULT_LIMITS.stressConnections, count);
  return { connections, connectionsPerAddress, connectionsPerAccount, stressConnections };
}
