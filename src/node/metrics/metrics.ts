// The node's metrics: the meters that its parts are given and the text that Prometheus reads. Loaded only when
// MANSIO_METRICS_PORT is set; the only folder that knows prom-client.
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { DeliveryMeter } from '../../actors/delivery/meter.js';
import type { Meter } from '../../actors/runtime/meter.js';
import type { HttpMeter } from '../../gateways/http/meter.js';
import type { HubMeter } from '../../gateways/hub/meter.js';
import type { SmtpMeter, SubmissionMeter } from '../../gateways/smtp/meter.js';
import type { CourierMeter } from '../../smtp-client/meter.js';
import { courierMeter } from './courier-metrics.js';
import { deliveryMeter, type QueueParts, watchQueue } from './delivery-metrics.js';
import { type EngineParts, watchEngine } from './engine-metrics.js';
import { eventLoopDelay } from './event-loop.js';
import { Families } from './families.js';
import { httpMeter, hubMeter, smtpMeter, submissionMeter } from './gateway-metrics.js';
import { runtimeMeter } from './runtime-metrics.js';
import { type CommitMeters, commitMeters } from './store-metrics.js';

export interface Metrics {
  readonly runtime: Meter;
  readonly commits: CommitMeters;
  readonly smtp: SmtpMeter;
  readonly submission: SubmissionMeter;
  readonly http: HttpMeter;
  readonly hub: HubMeter;
  readonly deliveries: DeliveryMeter;
  readonly courier: CourierMeter;
  watchEngine(parts: EngineParts): void;
  /** On nodes that deliver outbound mail. */
  watchQueue(status: QueueParts): void;
  /** `read` gives the connections open now. */
  watchConnections(gateway: 'smtp' | 'submission' | 'hub', read: () => number): void;
  readonly contentType: string;
  /** Everything, in Prometheus' text format. */
  text(): Promise<string>;
}

/** Of the library's: what shows the period of its own timer, and sums that are named like counters. */
const LEFT_OUT = /eventloop_lag|nodejs_active_\w+_total/;

export function createMetrics(node: { readonly version: string }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'mansio_' });
  for (const { name } of registry.getMetricsAsArray()) if (LEFT_OUT.test(name)) registry.removeSingleMetric(name);
  const families = new Families(registry);
  eventLoopDelay(families);
  families.gauges('build_info', 'Always 1; the version is its label.', ['version'], () => [[node, 1]]);
  return {
    runtime: runtimeMeter(families),
    commits: commitMeters(families),
    smtp: smtpMeter(families),
    submission: submissionMeter(families),
    http: httpMeter(families),
    hub: hubMeter(families),
    deliveries: deliveryMeter(families),
    courier: courierMeter(families),
    watchEngine: (parts) => watchEngine(families, parts),
    watchQueue: (status) => watchQueue(families, status),
    watchConnections(gateway, read) {
      families.gauge(`${gateway}_connections`, 'Connections open now.', read);
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
