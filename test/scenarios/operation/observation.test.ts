// Tests what operators see of a whole node: metrics after some mail and requests, and the trace of one message from SMTP to
// the hub.
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { findProgram } from '../../../dev/executables.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startHub } from '../../support/clients/hub-start.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { startCollector } from '../../support/peers/otlp-collector.js';
import { type Family, parseMetrics, sumOf } from '../../support/prometheus-text.js';
import { reportOfPromtool } from '../../support/promtool.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

async function account(node: TestNode, name: string) {
  const sql = await storeOf(node);
  const made = await createAccount(sql, `${name}@example.test`);
  await sql.end();
  return made;
}

const mailer = (node: TestNode) =>
  createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });

const send = (node: TestNode, to: string, subject: string) =>
  mailer(node).sendMail({ from: 'zoe@remote.test', to, subject, text: 'Hello.\n' });

/** Opens a hub connection of the account; `delivered` resolves with the next new email. */
async function follow(node: TestNode, key: string) {
  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${port(node, 'http')}/hubs/email`, { accessTokenFactory: () => key })
    .configureLogging(LogLevel.None)
    .build();
  hub.on('UnreadCountChanged', () => {});
  const told = new EventEmitter();
  hub.on('NewEmail', () => told.emit('NewEmail'));
  await startHub(hub);
  return { hub, delivered: () => once(told, 'NewEmail') };
}

test('metrics are off, and nothing listens for them, unless they are turned on', async (t) => {
  const node = await startTestNode({ MANSIO_METRICS_PORT: '0' });
  t.deepEqual(Object.keys(node.ready.listeners).sort(), [
    'http',
    'imap',
    'imaps',
    'mx',
    'pop3',
    'pop3s',
    'sieve',
    'submission',
    'submissions',
  ]);
  t.is((await node.stop()).code, 0);
});

/** Starts a node with metrics, for which some mail and requests are made; returns what it tells of them. */
async function measured(t: ExecutionContext) {
  const metricsPort = await freePort();
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_METRICS_PORT: String(metricsPort),
    MANSIO_UNKNOWN_RECIPIENTS: 'reject',
  });
  t.is(node.ready.listeners['metrics'], `127.0.0.1:${metricsPort}`);
  const base = `http://127.0.0.1:${metricsPort}`;
  const user = await account(node, 'anna');
  const client = new MailboxClient(node, user.key);
  const { hub, delivered } = await follow(node, user.key);
  await Promise.all([delivered(), send(node, user.email, 'one')]);
  await send(node, user.email, 'two');
  await t.throwsAsync(send(node, 'nobody@example.test', 'three'));
  const { items } = await client.get<EmailList>('/api/emails');
  t.is((await client.request('PATCH', `/api/emails/${items[0]!.id}`, { isRead: true })).status, 204);
  t.is((await client.request('GET', '/nowhere')).status, 404);

  const response = await fetch(`${base}/metrics`);
  t.is(response.status, 200);
  t.regex(response.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const families: Map<string, Family> = parseMetrics(text);
  const value = (name: string, labels = {}) => sumOf(families, `mansio_${name}`, labels);
  return { node, base, user, hub, text, families, value };
}

test('after some mail and requests the metrics say so', async (t) => {
  // A mailbox that answers too late on a busy machine is asked again: then another node is measured.
  const prompt = await eventually('a node whose mailbox answers in time', async () => {
    const made = await measured(t);
    const isPrompt = made.value('smtp_deliveries_total', { outcome: 'placed' }) === 2;
    if (isPrompt && made.value('ask_duration_seconds_count', { owner: 'local', outcome: 'reply' }) >= 4) return made;
    await made.hub.stop();
    await made.node.stop();
    return undefined;
  });
  const { node, base, user, hub, text, families, value } = prompt!;
  if (findProgram('promtool') === undefined) t.log('promtool is not installed: it checks no metrics');
  else t.is(await reportOfPromtool(text), '');
  t.is(value('smtp_messages_accepted_total'), 2);
  t.true(value('smtp_accepted_bytes_total') > 500);
  t.is(value('smtp_deliveries_total', { outcome: 'placed' }), 2);
  t.is(value('smtp_deliveries_total', { outcome: 'postponed' }), 0);
  t.is(value('smtp_refused_total', { code: '5xx', reason: 'unknown' }), 1);
  t.is(value('smtp_message_duration_seconds_count', { outcome: 'accepted' }), 2);
  t.true(value('smtp_connections') >= 0);

  const requests = (operation: string) =>
    value('actor_request_duration_seconds_count', { operation, outcome: 'reply' });
  t.deepEqual([requests('deliver'), requests('list'), requests('storeFlags')], [2, 1, 1]);
  t.true(value('ask_duration_seconds_count', { owner: 'local', outcome: 'reply' }) >= 4);
  t.is(value('ask_retries_total'), 0);
  t.is(value('actors'), 1);
  t.is(value('actor_loads_total'), 1);
  t.true(value('actor_state_bytes') > 0);
  t.is(value('actor_commands_waiting'), 0);

  t.true(value('commit_duration_seconds_count', { group: 'mailboxes', outcome: 'committed' }) >= 2);
  t.is(value('commit_group_size_sum', { group: 'mailboxes' }), 3);
  t.is(value('actor_fenced_total'), 0);
  t.true(value('events_published_total') >= 5);
  t.true(value('events_received_total') >= 5);

  t.is(value('shards'), 256);
  t.is(value('shards_owned'), 256);
  t.is(value('shards_taken_total', { reason: 'free' }), 256);
  t.is(value('shards_lost_total'), 0);
  t.true(value('heartbeat_age_seconds') < 60);
  t.is(value('cluster_nodes', { state: 'serving' }), 1);
  t.is(value('bus_connected'), 1);
  t.is(value('inbound_waiting'), 0);

  const http = (route: string, method: string, status: string) =>
    value('http_request_duration_seconds_count', { route, method, status });
  t.is(http('/api/emails', 'GET', '2xx'), 1);
  t.is(http('/api/emails/{id}', 'PATCH', '2xx'), 1);
  t.is(http('none', 'GET', '4xx'), 1);
  t.is(value('hub_connections'), 1);
  t.true(value('hub_messages_sent_total') >= 2);
  t.true(value('process_cpu_seconds_total') > 0);
  t.true(families.get('mansio_event_loop_delay_seconds')!.samples.length > 0);
  t.false([...families.values()].some(({ samples }) => JSON.stringify(samples).includes(user.id)));

  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/healthz'],
    ['POST', '/metrics'],
  ] as const) {
    t.is((await fetch(base + path, { method })).status, 404, `${method} ${path}`);
  }
  await hub.stop();
  t.is((await node.stop()).code, 0);
});

test('a metrics port that is taken is named', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port: used } = taken.address() as AddressInfo;
  const error = await t.throwsAsync(startTestNode({ MANSIO_METRICS_PORT: String(used) }));
  taken.close();
  t.regex(
    error.message,
    new RegExp(`metrics cannot listen on port ${used} .*MANSIO_METRICS_PORT to another, or to off`),
  );
});

test('one message is one trace, from SMTP into its mailbox and on to the hub; a request continues the caller’s', async (t) => {
  const collector = await startCollector();
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_NODE_ID: 'traced-node',
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
  });
  const user = await account(node, 'ben');
  const { hub, delivered } = await follow(node, user.key);
  const responses: string[] = [];
  for (let i = 0; i < 3; i++) {
    const [{ response }] = await Promise.all([send(node, user.email, 'A secret subject'), delivered()]);
    responses.push(response);
  }
  const [caller, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const get = (traceparent: string) =>
    fetch(`http://127.0.0.1:${port(node, 'http')}/api/emails?page=1`, {
      headers: { authorization: `Bearer ${user.key}`, traceparent },
    });
  t.is((await get(`00-${caller}-${parent}-01`)).status, 200);
  t.is((await get('what is this')).status, 200);
  await hub.stop();
  t.is((await node.stop()).code, 0);
  await collector.close();

  const { spans, resource } = collector;
  const named = (name: string) => spans.filter((span) => span.name === name);
  t.is(named('SMTP message').length, responses.length);
  const hubSends = named('hub send');
  // An event that the hub reads from the log, because the bus is late, has no trace.
  t.true(hubSends.length > 0);
  // A mailbox that answers too late on a busy machine is asked again.
  const asksOf = (id: string) => named('ask mailbox.deliver').filter(({ traceId }) => traceId === id);
  const prompt = named('SMTP message').filter(({ traceId }) => asksOf(traceId).length === 1);
  t.true(prompt.length > 0);
  for (const root of prompt) {
    const tree = (name: string) => {
      const [span, ...others] = named(name).filter(({ traceId }) => traceId === root.traceId);
      t.truthy(span, name);
      t.deepEqual(others, [], name);
      return span!;
    };
    const [ask, deliver, commit] = ['ask mailbox.deliver', 'mailbox.deliver', 'commit'].map(tree);
    for (const [child, above] of [
      [ask!, root],
      [deliver!, ask!],
      [commit!, deliver!],
      ...hubSends.filter(({ traceId }) => traceId === root.traceId).map((hubSend) => [hubSend, commit!] as const),
    ] as const)
      t.is(child.parentSpanId, above.spanId, `${child.name} is under ${above.name}`);
    t.is(root.parentSpanId ?? '', '');
    t.like(root.attributes, { 'mansio.message.recipients': 1, 'mansio.smtp.reply': 250 });
    t.true(responses.some((response) => response.endsWith(String(root.attributes['mansio.transaction']))));
  }
  for (const { attributes } of hubSends) t.is(attributes['mansio.hub.connections'], 1);

  const requests = named('GET /api/emails');
  t.is(requests.length, 2);
  const continued = requests.find(({ traceId }) => traceId === caller)!;
  t.is(continued.parentSpanId, parent);
  t.like(continued.attributes, { 'http.route': '/api/emails', 'http.response.status_code': 200 });
  t.is(requests.find(({ traceId }) => traceId !== caller)?.parentSpanId ?? '', '');
  const list = named('mailbox.list').find(({ traceId }) => traceId === caller)!;
  t.is(named('ask mailbox.list').find(({ spanId }) => spanId === list.parentSpanId)?.parentSpanId, continued.spanId);

  t.like(resource, { 'service.name': 'mansio', 'service.instance.id': 'traced-node' });
  const told = JSON.stringify(spans);
  for (const secret of ['@', 'secret', user.key]) t.false(told.includes(secret), secret);
});

test('a collector that is away is logged once and fails nothing', async (t) => {
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  });
  const user = await account(node, 'cleo');
  await send(node, user.email, 'one');
  const client = new MailboxClient(node, user.key);
  await eventually('the mail', async () => (await client.inbox()).length === 1);
  t.deepEqual(await node.stop(), { code: 0, signal: null });
  t.is(node.logs.filter((line) => line.includes('traces cannot be sent')).length, 1);
  t.false(node.logs.some((line) => line.includes('"level":50') || line.includes('"level":60')));
});
