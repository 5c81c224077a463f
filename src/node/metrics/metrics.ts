// The node's metrics: the meters for its parts and the text for Prometheus. It is loaded only when MANSIO_METRICS_PORT is set; no other
// folder knows prom-client.
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { ConsumerMeter } from '../../actors/consumers/protocol.js';
import type { DeliveryMeter } from '../../actors/delivery/meter.js';
import type { ForwardMeter } from '../../actors/mailbox/background/automatic-mail.js';
import type { JunkLearningOptions } from '../../actors/mailbox/background/junk-learning.js';
import type { MergeMeter } from '../../actors/mailbox/search/search-merging.js';
import type { Meter } from '../../actors/runtime/meter.js';
import type { SendingMeter } from '../../actors/sending/meter.js';
import type { LoginMeter } from '../../auth/sign-in.js';
import type { EventStreamMeter } from '../../gateways/events/open-event-streams.js';
import type { HttpMeter } from '../../gateways/http/pipeline/meter.js';
import type { HubMeter } from '../../gateways/hub/meter.js';
import type { ImapMeter } from '../../gateways/imap/meter.js';
import type { Pop3Meter } from '../../gateways/pop3/meter.js';
import type { SieveMeter } from '../../gateways/sieve/meter.js';
import type { SmtpMeter, SubmissionMeter } from '../../gateways/smtp/meter.js';
import type { CheckMeter } from '../../message-checks/check-chain.js';
import type { BlockListMeter } from '../../message-checks/clients/block-lists.js';
import type { FeedbackMeter } from '../../message-checks/feedback/meter.js';
import type { SmtpClientMeter } from '../../net/smtp-client/meter.js';
import type { CertificateMeter } from '../certificates/certificate-requests.js';
import { certificateMeter, type MeasuredCertificates, watchCertificates } from './certificate-metrics.js';
import { consumerMeter } from './consumer-metrics.js';
import { deliveryMeter, type MeasuredQueue, watchQueue } from './delivery-metrics.js';
import { watchDisk } from './disk-metrics.js';
import { type EngineParts, watchEngine } from './engine-metrics.js';
import { eventLoopDelay } from './event-loop.js';
import { type Declared, Families, type MeteredRole } from './families.js';
import { feedbackMeter } from './feedback-metrics.js';
import { forwardMeter } from './forward-metrics.js';
import {
  blockListMeter,
  checkMeter,
  eventStreamMeter,
  httpMeter,
  hubMeter,
  imapMeter,
  loginMeter,
  pop3Meter,
  sieveMeter,
  smtpMeter,
  submissionMeter,
} from './gateway-metrics.js';
import { junkMeter } from './junk-metrics.js';
import { runtimeMeter } from './runtime-metrics.js';
import { sendingMeter } from './sending-metrics.js';
import { smtpClientMeter } from './smtp-client-metrics.js';
import { type CommitMeters, commitMeters, mergeMeter } from './store-metrics.js';

export interface Metrics {
  readonly runtime: Meter;
  readonly commits: CommitMeters;
  readonly searchMerges: MergeMeter;
  readonly smtp: SmtpMeter;
  readonly submission: SubmissionMeter;
  /** The content checks of received and of submitted mail. */
  readonly checks: CheckMeter;
  readonly blockLists: BlockListMeter;
  readonly imap: ImapMeter;
  readonly pop3: Pop3Meter;
  readonly sieve: SieveMeter;
  /** The logins of all mail protocols. */
  readonly logins: LoginMeter;
  readonly http: HttpMeter;
  readonly hub: HubMeter;
  readonly events: EventStreamMeter;
  /** The attempts for push subscriptions and webhooks. */
  readonly consumers: ConsumerMeter;
  readonly deliveries: DeliveryMeter;
  readonly smtpClient: SmtpClientMeter;
  /** The limits of recipients. */
  readonly sending: SendingMeter;
  readonly forwards: ForwardMeter;
  readonly certificates: CertificateMeter;
  readonly feedback: FeedbackMeter;
  readonly junk: JunkLearningOptions['meter'];
  watchEngine(parts: EngineParts): void;
  /** `path`: the data directory. */
  watchDisk(path: string): void;
  watchCertificates(certificates: MeasuredCertificates): void;
  /** Called on nodes that deliver outbound mail. */
  watchQueue(status: MeasuredQueue): void;
  /** `read` returns the number of open connections. */
  watchConnections(
    gateway: 'smtp' | 'submission' | 'imap' | 'pop3' | 'sieve' | 'hub' | 'event_stream',
    read: () => number,
  ): void;
  readonly contentType: string;
  /** All families, also those of roles that this node does not have. */
  readonly declared: readonly Declared[];
  /** The text that this node exports, in Prometheus' format. */
  text(): Promise<string>;
}

/** Metrics of the library that are left out: one shows the period of its own timer, others are sums with the names of counters. */
const LEFT_OUT = /eventloop_lag|nodejs_active_\w+_total/;

export interface MeteredNode {
  readonly version: string;
  readonly roles: ReadonlySet<string>;
  /** The number of the process among those of one parent; the label `process` of every series. */
  readonly process?: number | undefined;
}

const GATEWAY_ROLES = {
  smtp: 'mx',
  submission: 'submission',
  imap: 'imap',
  pop3: 'pop3',
  sieve: 'imap',
  hub: 'api',
  event_stream: 'api',
} as const satisfies Record<string, MeteredRole>;

export function createMetrics({ version, roles, process }: MeteredNode): Metrics {
  const registry = new Registry();
  if (process !== undefined) registry.setDefaultLabels({ process: String(process) });
  collectDefaultMetrics({ register: registry, prefix: 'mansio_' });
  for (const { name } of registry.getMetricsAsArray()) if (LEFT_OUT.test(name)) registry.removeSingleMetric(name);
  const declared: Declared[] = libraryFamilies(registry);
  const families = new Families(registry, roles, declared);
  const [api, outbound] = [families.of('api'), families.of('outbound')];
  eventLoopDelay(families);
  families.gauges('build_info', 'Always 1; the version of the program is its label.', ['version'], () => [
    [{ version }, 1],
  ]);
  return {
    runtime: runtimeMeter(families),
    commits: commitMeters(families),
    searchMerges: mergeMeter(families),
    smtp: smtpMeter(families.of('mx')),
    checks: checkMeter(families),
    blockLists: blockListMeter(families.of('mx')),
    submission: submissionMeter(families.of('submission')),
    imap: imapMeter(families.of('imap')),
    pop3: pop3Meter(families.of('pop3')),
    sieve: sieveMeter(families.of('imap')),
    logins: loginMeter(families, roles),
    http: httpMeter(api),
    hub: hubMeter(api),
    events: eventStreamMeter(api),
    consumers: consumerMeter(families),
    deliveries: deliveryMeter(outbound),
    smtpClient: smtpClientMeter(outbound),
    sending: sendingMeter(families),
    forwards: forwardMeter(families),
    certificates: certificateMeter(families),
    feedback: feedbackMeter(families),
    junk: junkMeter(families),
    watchEngine: (parts) => watchEngine(families, parts),
    watchDisk: (path) => watchDisk(families, path),
    watchCertificates: (certificates) => watchCertificates(families, certificates),
    watchQueue: (status) => watchQueue(outbound, status),
    watchConnections(gateway, read) {
      families.of(GATEWAY_ROLES[gateway]).gauge(`${gateway}_connections`, 'Connections open now.', read);
    },
    contentType: registry.contentType,
    declared,
    text: () => registry.metrics(),
  };
}

/** The families of prom-client itself; the types of the package do not show the kind and the labels of a metric. */
function libraryFamilies(registry: Registry): Declared[] {
  const metrics = registry.getMetricsAsArray() as unknown as (Omit<Declared, 'labels'> & { labelNames?: string[] })[];
  return metrics.map(({ name, help, type, labelNames = [] }) => ({
    name,
    help,
    type,
    labels: labelNames,
    role: undefined,
  }));
}
