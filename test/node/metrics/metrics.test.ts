// Tests Prometheus's rules for names, labels and the text, and that two nodes of one process count separately.

import { NEVER, of } from 'rxjs';
import { createMetrics } from '../../../src/node/metrics/metrics.js';
import { parseMetrics, sumOf } from '../../support/prometheus-text.js';
import test from '../../support/test.js';

const ALL = new Set(['api', 'mx', 'submission', 'imap', 'outbound', 'mailbox']);

function metrics(roles: ReadonlySet<string> = ALL) {
  const made = createMetrics({ version: '1.2.3', roles });
  made.watchConnections('smtp', () => 3);
  made.watchConnections('submission', () => 5);
  made.watchConnections('imap', () => 6);
  made.watchConnections('hub', () => 4);
  made.watchConnections('event_stream', () => 7);
  const node = { id: 'a', version: '', roles: [], bus: 'nats', startedAt: 0, silentMs: 0 } as const;
  made.watchCertificates({
    presented: () => ({ names: ['mail.test'], expiresAt: new Date(86_400_000) }),
    acme: () => ({ failing: 2, ownFailure: undefined, domainsEnd: 43_200_000 }),
  });
  made.watchEngine({
    consumers: { accounts: 0, active: 0, waiting: 0, resting: 0 },
    host: { load: { actors: 7, octets: 8_000, waiting: 9 } },
    ownership: {
      owned: [1, 2],
      shards: 256,
      heartbeatAgeMs: 1_500,
      unreachable: ['d'],
      view: {
        nodes: [
          { ...node, state: 'serving', expired: false },
          { ...node, id: 'b', state: 'cut off', expired: false },
          { ...node, id: 'c', state: 'serving', expired: true },
        ],
        leases: [],
      },
    },
    transport: { connected$: of(true), breaks$: NEVER },
    redelivery: { delivered: 5, waiting: 6 },
    placing: { placed: 7 },
    releases: { released: 8 },
    merging: { waiting: 9 },
    doctor: {
      last: { at: 5_000, findings: [{ check: 'mx', subject: 'a.test', status: 'fail', detail: '', fix: '' }] },
    },
    backupWatch: { lastBackupAt: 1_796_000_000_500, awaitingRelease: 6 },
  });
  return made;
}

test('names, labels and text are as Prometheus wants them', async (t) => {
  const { runtime, commits, smtp, submission, imap, logins, http, hub, text } = metrics();
  runtime.asked('mailbox', 'reply', true, 1);
  runtime.answered('mailbox', 'deliver', 'reply', 1);
  commits.inbound.written(3, 2, true);
  smtp.accepted({ octets: 100, mailboxes: 2, placed: 1 });
  smtp.refused('notHosted', 550);
  smtp.replied(true, 3);
  submission.queued({ octets: 100, recipients: 2 });
  submission.refused('foreignFrom', 550);
  submission.replied(true, 3);
  logins.attempted('imap', 'wrong');
  imap.completed('NOOP', 'OK', 1);
  imap.appended(100);
  commits.blobs.written(1, 1, true);
  http.answered('BREW', null, 404, 1);
  hub.sent(2, 10);
  const families = parseMetrics(await text());
  t.true(families.size > 40);
  for (const [name, { help, type, samples }] of families) {
    t.regex(name, /^mansio_[a-z0-9_]+$/, name);
    t.true(help !== undefined && help.length > 0, `${name} has help`);
    t.true(['counter', 'gauge', 'histogram', 'summary'].includes(type!), `${name} has a type`);
    t.is(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    t.notRegex(
      name,
      /_(ms|milliseconds|kb|octets|count|sum|bucket)$/,
      `${name} has a base unit and no suffix of a sample`,
    );
    for (const { labels } of samples) {
      for (const label of Object.keys(labels)) {
        t.regex(label, /^[a-z][a-z0-9_]*$/, `${name}: ${label}`);
        t.notRegex(label, /account|address|email|shard_id|recipient|sender/, `${name}: ${label} would know no bound`);
      }
    }
  }
});

test('a node exports the families of its roles and those of every node', async (t) => {
  const exported = async (...roles: string[]) => [...parseMetrics(await metrics(new Set(roles)).text()).keys()];
  const ofAll = await exported(...ALL);
  const ofFront = await exported('mx');
  const ofNone = await exported('mailbox');
  t.true(ofFront.includes('mansio_smtp_connections') && ofFront.includes('mansio_smtp_messages_accepted_total'));
  t.deepEqual(
    ofFront.filter((name) => !/^mansio_(smtp_(?!client_)|dnsbl_)/.test(name)),
    ofNone,
  );
  t.deepEqual(
    ofAll.filter((name) => !/^mansio_(smtp|dnsbl|submission|imap|sieve|http|hub|event_stream|outbound)_/.test(name)),
    ofNone,
  );
  t.true(ofAll.length > ofNone.length + 20);
});

test('gauges read what there is when somebody looks', async (t) => {
  const families = parseMetrics(await metrics().text());
  const value = (name: string, labels = {}) => sumOf(families, `mansio_${name}`, labels);
  t.is(value('smtp_connections'), 3);
  t.is(value('hub_connections'), 4);
  t.is(value('actors'), 7);
  t.is(value('actor_state_bytes'), 8_000);
  t.is(value('actor_commands_waiting'), 9);
  t.is(value('shards_owned'), 2);
  t.is(value('doctor_findings', { check: 'mx', status: 'fail' }), 1);
  t.is(value('doctor_last_run_timestamp_seconds'), 5);
  t.is(value('heartbeat_age_seconds'), 1.5);
  t.deepEqual(
    ['serving', 'cut off', 'draining', 'silent'].map((state) => value('cluster_nodes', { state })),
    [1, 1, 0, 1],
  );
  t.is(value('bus_connected'), 1);
  t.is(value('inbound_redelivered_total'), 5);
  t.is(value('inbound_waiting'), 6);
  t.is(value('imported_total'), 7);
  t.is(value('build_info', { version: '1.2.3' }), 1);
});

test('what two nodes of one process count stays apart', async (t) => {
  const [first, second] = [metrics(), metrics()];
  first.smtp.accepted({ octets: 100, mailboxes: 3, placed: 2 });
  first.hub.sent(2, 10);
  const [one, other] = [parseMetrics(await first.text()), parseMetrics(await second.text())];
  t.is(sumOf(one, 'mansio_smtp_messages_accepted_total'), 1);
  t.is(sumOf(one, 'mansio_smtp_deliveries_total', { outcome: 'placed' }), 2);
  t.is(sumOf(one, 'mansio_smtp_deliveries_total', { outcome: 'postponed' }), 1);
  t.is(sumOf(one, 'mansio_hub_messages_sent_total'), 20);
  t.is(sumOf(other, 'mansio_smtp_messages_accepted_total'), 0);
});

test('what peers write is no label', async (t) => {
  const { http, text } = metrics();
  for (let i = 0; i < 100; i++) http.answered(`METHOD${i}`, null, 404, 1);
  const requests = parseMetrics(await text()).get('mansio_http_request_duration_seconds')!;
  t.deepEqual(new Set(requests.samples.map(({ labels }) => labels['method'])), new Set(['other']));
});

test('outbound mail: outcomes by kind, how long tries take and how late the queue is', async (t) => {
  const made = metrics();
  made.watchQueue({ inFlight: 3, shards: 128, overdueMs: 2_500, lookAgeMs: 500 });
  made.deliveries.attempted(['temporary', 'delivered', 'delivered'], 40);
  made.deliveries.attempted([], 40);
  made.deliveries.ended('Sent', 1_500);
  made.deliveries.reported('failed');
  const families = parseMetrics(await made.text());
  const value = (name: string, labels = {}) => sumOf(families, `mansio_outbound_${name}`, labels);
  t.is(value('in_flight'), 3);
  t.is(value('shards'), 128);
  t.is(value('oldest_due_seconds'), 2.5);
  t.is(value('look_age_seconds'), 0.5);
  t.deepEqual(
    ['delivered', 'temporary', 'permanent'].map((outcome) => value('outcomes_total', { outcome })),
    [2, 1, 0],
  );
  t.is(value('reports_total', { kind: 'failed' }), 1);
  t.deepEqual(
    families
      .get('mansio_outbound_attempt_duration_seconds')!
      .samples.filter(({ labels }) => labels['le'] === '0.05')
      .map(({ labels, value: count }) => [labels['outcome'], count]),
    [['delivered', 1]],
  );
});

test('certificates: when they end, and how many fail', async (t) => {
  const text = await metrics().text();
  t.regex(text, /mansio_certificate_expiry_timestamp_seconds\{of="deployment"\} 86400\n/);
  t.regex(text, /mansio_certificate_expiry_timestamp_seconds\{of="domains"\} 43200\n/);
  t.regex(text, /mansio_certificates_failing 2\n/);
});
