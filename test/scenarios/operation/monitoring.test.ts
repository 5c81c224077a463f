// Tests deploy/prometheus-alerts.yml and deploy/grafana-dashboard.json with promtool and with the metrics of a running node: every query
// can be read, asks for metrics and labels that exist, and alerts fire when they are to.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { requireProgram } from '../../../dev/executables.js';
import { freePort } from '../../../dev/ports.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { startTestNode } from '../../support/node.js';
import { runProgram } from '../../support/run-program.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

const RULES = 'deploy/prometheus-alerts.yml';
const DASHBOARD = 'deploy/grafana-dashboard.json';

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const panels = () => (JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { readonly panels: readonly Panel[] }).panels;
const queries = () => panels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The metrics of a query, and the labels that it asks of each. */
function selectorsIn(text: string): readonly { readonly metric: string; readonly labels: readonly string[] }[] {
  return [...text.matchAll(/\b(mansio_\w+)(?:\{([^}]*)\})?/g)].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
  }));
}

const alertsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert!);

const NO_SUBMISSION = { 'mansio_submission_refused_total{reason="fault"}': '0x40' };
const outcomes = (outcome: string) => `mansio_outbound_outcomes_total{outcome="${outcome}"}`;

async function promtool(...args: readonly string[]) {
  return runProgram(requireProgram('promtool'), args, '');
}

testWith('promtool')('promtool reads the rules and every query of the dashboard', async (t) => {
  const rules = await promtool('check', 'rules', RULES);
  t.is(rules.code, 0, rules.output);
  // Grafana replaces its variables before it asks.
  const asked = queries().map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'));
  const recorded = asked.map((expr, i) => `      - record: q${i}\n        expr: ${JSON.stringify(expr)}\n`);
  const file = join(temporaryDirectory(), 'queries.yml');
  writeFileSync(file, `groups:\n  - name: dashboard\n    rules:\n${recorded.join('')}`);
  const dashboard = await promtool('check', 'rules', file);
  t.is(dashboard.code, 0, dashboard.output);
});

testWith('promtool')('alerts fire when they are to, and not before', async (t) => {
  const cases: readonly (readonly [
    alert: string,
    at: string,
    series: Readonly<Record<string, string>>,
    fires: number,
  ])[] = [
    ['MansioNodeDown', '5m', { 'up{job="mansio"}': '0x20' }, 1],
    ['MansioNodeDown', '5m', { 'up{job="mansio"}': '1x20' }, 0],
    ['MansioQueueLate', '12m', { mansio_outbound_oldest_due_seconds: '0+60x20' }, 1],
    ['MansioQueueLate', '4m', { mansio_outbound_oldest_due_seconds: '0+60x20' }, 0],
    ['MansioWrongLogins', '30m', { 'mansio_logins_total{protocol="imap", outcome="wrong"}': '0+60x40' }, 1],
    ['MansioWrongLogins', '30m', { 'mansio_logins_total{protocol="imap", outcome="wrong"}': '0+6x40' }, 0],
    ['MansioRelayRefusesLogin', '20m', { 'mansio_smtp_client_relay_logins_total{outcome="refused"}': '0x9 1x20' }, 1],
    ['MansioDiskNearlyFull', '20m', { mansio_data_disk_free_bytes: '9x30', mansio_data_disk_size_bytes: '100x30' }, 1],
    ['MansioDiskFull', '20m', { mansio_data_disk_free_bytes: '9x30', mansio_data_disk_size_bytes: '100x30' }, 0],
    [
      'MansioCommitsSlow',
      '40m',
      {
        'mansio_commit_duration_seconds_bucket{le="0.5"}': '0+90x60',
        'mansio_commit_duration_seconds_bucket{le="1"}': '0+100x60',
        'mansio_commit_duration_seconds_bucket{le="+Inf"}': '0+100x60',
      },
      1,
    ],
    ['MansioCommitsFail', '20m', { 'mansio_commit_duration_seconds_count{outcome="failed"}': '0+1x40' }, 1],
    [
      'MansioLeasesMove',
      '20m',
      { mansio_shards_lost_total: '0x9 64x20', 'mansio_shards_taken_total{reason="crashed"}': '0x30' },
      1,
    ],
    [
      'MansioLeasesMove',
      '20m',
      { mansio_shards_lost_total: '0x30', 'mansio_shards_taken_total{reason="crashed"}': '0x30' },
      0,
    ],
    ['MansioEventLoopDelayed', '20m', { 'mansio_event_loop_delay_seconds{percentile="99"}': '0.3x30' }, 1],
    [
      'MansioCertificateEnds',
      '90m',
      { 'mansio_certificate_expiry_timestamp_seconds{of="deployment"}': '900000x120' },
      1,
    ],
    [
      'MansioCertificateEnds',
      '90m',
      { 'mansio_certificate_expiry_timestamp_seconds{of="deployment"}': '1300000x120' },
      0,
    ],
    ['MansioBackupOld', '90m', { mansio_last_backup_timestamp_seconds: '-300000x120' }, 1],
    ['MansioBackupOld', '90m', { mansio_last_backup_timestamp_seconds: '-100000x120' }, 0],
    ['MansioRestoredMailWaits', '90m', { mansio_restored_emails_waiting: '2x120' }, 1],
    ['MansioDoctorFails', '90m', { 'mansio_doctor_findings{check="mx", status="fail"}': '1x120' }, 1],
    ['MansioDoctorFails', '90m', { 'mansio_doctor_findings{check="mx", status="warn"}': '1x120' }, 0],
    ['MansioRestoredMailWaits', '90m', { mansio_restored_emails_waiting: '0x120' }, 0],
    ['MansioMailWaitsForMailbox', '10m', { mansio_inbound_waiting: '2x20' }, 1],
    ['MansioMailWaitsForMailbox', '10m', { mansio_inbound_waiting: '2x3 0x20' }, 0],
    ['MansioRefusesByFault', '30m', { 'mansio_smtp_refused_total{reason="fault"}': '0+6x40', ...NO_SUBMISSION }, 1],
    ['MansioRefusesByFault', '30m', { 'mansio_smtp_refused_total{reason="recipient"}': '0+6x40', ...NO_SUBMISSION }, 0],
    // Two in a second, where there was one in ten seconds a day ago; then as many as then.
    ['MansioRefusalsRise', '26h', { 'mansio_smtp_refused_total{reason="recipient"}': '0+30x288 8640+600x40' }, 1],
    ['MansioRefusalsRise', '26h', { 'mansio_smtp_refused_total{reason="recipient"}': '0+600x328' }, 0],
    ['MansioRelayRefusesLogin', '20m', { 'mansio_smtp_client_relay_logins_total{outcome="refused"}': '1x30' }, 0],
    ['MansioDeliveriesFail', '100m', { [outcomes('permanent')]: '0+3x120', [outcomes('delivered')]: '0+6x120' }, 1],
    ['MansioDeliveriesFail', '100m', { [outcomes('permanent')]: '0+1x120', [outcomes('delivered')]: '0+6x120' }, 0],
    ['MansioDiskNearlyFull', '20m', { mansio_data_disk_free_bytes: '11x30', mansio_data_disk_size_bytes: '100x30' }, 0],
    ['MansioDiskFull', '20m', { mansio_data_disk_free_bytes: '1x30', mansio_data_disk_size_bytes: '100x30' }, 1],
    [
      'MansioCommitsSlow',
      '40m',
      {
        'mansio_commit_duration_seconds_bucket{le="0.5"}': '0+100x60',
        'mansio_commit_duration_seconds_bucket{le="+Inf"}': '0+100x60',
      },
      0,
    ],
    ['MansioCommitsFail', '20m', { 'mansio_commit_duration_seconds_count{outcome="done"}': '0+9x40' }, 0],
    ['MansioHeartbeatOld', '5m', { mansio_heartbeat_age_seconds: '4x10' }, 1],
    ['MansioHeartbeatOld', '5m', { mansio_heartbeat_age_seconds: '1x10' }, 0],
    ['MansioBusAway', '5m', { mansio_bus_connected: '0x10', mansio_peers_unreachable: '0x10' }, 1],
    ['MansioBusAway', '5m', { mansio_bus_connected: '1x10', mansio_peers_unreachable: '1x10' }, 1],
    ['MansioBusAway', '5m', { mansio_bus_connected: '1x10', mansio_peers_unreachable: '0x10' }, 0],
    ['MansioEventLoopDelayed', '20m', { 'mansio_event_loop_delay_seconds{percentile="99"}': '0.01x30' }, 0],
    ['MansioCertificateFails', '7h', { mansio_certificates_failing: '1x100' }, 1],
    ['MansioCertificateFails', '7h', { mansio_certificates_failing: '1x20 0x80' }, 0],
  ];
  // Every rule has a case in which it fires, and one in which it does not.
  for (const fires of [0, 1]) {
    const tried = new Set(cases.filter((each) => each[3] === fires).map(([alert]) => alert));
    t.deepEqual(
      alertsOf(RULES).filter((alert) => !tried.has(alert)),
      [],
    );
  }
  // Each test evaluates all rules; those that take hours do so less often.
  const isLong = (at: string) => at.endsWith('h');
  for (const [interval, some] of [
    ['1m', cases.filter(([, at]) => !isLong(at))],
    ['5m', cases.filter(([, at]) => isLong(at))],
  ] as const) {
    const tests = some.map(([alertname, eval_time, series, fires]) => ({
      interval,
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alertname}", alertstate="firing"}) or vector(0)`,
          eval_time,
          exp_samples: [{ labels: '{}', value: fires }],
        },
      ],
    }));
    const file = join(temporaryDirectory(), 'tests.yml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ rule_files: [resolve(RULES)], evaluation_interval: interval, tests }));
    const { code, output } = await promtool('test', 'rules', file);
    t.is(code, 0, output);
  }
});

test('rules and dashboard ask for what a running node exports', async (t) => {
  const metricsPort = await freePort();
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_METRICS_PORT: String(metricsPort) });
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  t.is((await node.stop()).code, 0);
  const families = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!));
  const isExported = (metric: string) =>
    families.has(metric) || families.has(metric.replace(/_(bucket|count|sum)$/, ''));
  const labels = labelsOf(readFileSync('docs/metrics.md', 'utf8'));
  const wrong: string[] = [];
  for (const { metric, labels: asked } of selectorsIn([readFileSync(RULES, 'utf8'), ...queries()].join('\n'))) {
    if (!isExported(metric)) wrong.push(`${metric} is not exported`);
    const known = ['instance', 'job', ...(labels.get(metric.replace(/_(bucket|count|sum)$/, '')) ?? [])];
    for (const label of asked) if (!known.includes(label)) wrong.push(`${metric} has no label ${label}`);
  }
  t.deepEqual(wrong, []);
});

function labelsOf(page: string): ReadonlyMap<string, readonly string[]> {
  const rows = page.matchAll(/^\| `(mansio_\w+)` \| \w+ \| ([^|]*) \|/gm);
  return new Map(
    [...rows].map(([, name, cell]) => [name!, [...cell!.matchAll(/`(\w+)`/g)].map(([, label]) => label!)]),
  );
}

test('every alert says what to do, and panels have places of their own', (t) => {
  const rules = readFileSync(RULES, 'utf8')
    .split(/\n(?= {6}- alert: )/)
    .slice(1);
  t.true(rules.length > 10);
  const names = alertsOf(RULES);
  t.deepEqual(names, [...new Set(names)]);
  for (const rule of rules) for (const part of ['severity:', 'summary:', 'action:']) t.true(rule.includes(part), rule);
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels()) {
    t.true(gridPos.x + gridPos.w <= 24, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        t.is(taken.get(`${x} ${y}`), undefined, `${title} lies on another panel`);
        taken.set(`${x} ${y}`, title);
      }
  }
  t.is(new Set(panels().map(({ id }) => id)).size, panels().length);
});
