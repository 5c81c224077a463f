// Tests the run of all checks: a domain whose zones are as printed, DNS that is slow or hostile, and many domains at once.
import { examine } from '../../../src/node/doctor/doctor.js';
import type { Finding } from '../../../src/node/doctor/finding.js';
import test from '../../support/test.js';
import { DOMAIN, HOST, subjectFor } from './subjects.js';

const OF_DOMAIN = ['mx', 'spf', 'dkim', 'dmarc', 'mta-sts', 'tls-rpt', 'srv', 'autoconfig', 'ptr', 'ipv6'];

/** A check on a busy machine takes long: only one test is about time. */
const PATIENT_MS = 120_000;
/** The time in ms for one try of a DNS server that answers nothing. */
const SILENCE_MS = 1_200;

function statuses(findings: readonly Finding[], domain = DOMAIN): Record<string, string> {
  const own = findings.filter(({ subject }) => subject === domain);
  return Object.fromEntries(own.map(({ check, status }) => [check, status]));
}

test('a domain with the records that are printed for it is in order', async (t) => {
  const { subject } = await subjectFor(t);
  const findings = await examine(subject, [DOMAIN], PATIENT_MS);
  const found = statuses(findings);
  t.deepEqual(Object.keys(found), OF_DOMAIN);
  for (const check of ['mx', 'spf', 'dkim', 'dmarc', 'srv', 'ptr']) t.is(found[check], 'ok', check);
  t.true(findings.every(({ status, fix }) => (status === 'ok') === (fix === null)));
});

test.serial('many domains are checked in one run, each with all its checks', async (t) => {
  const domains = Array.from({ length: 12 }, (_, i) => `d${i}.example.net`);
  const { subject } = await subjectFor(t, { domains });
  const findings = await examine(subject, domains, PATIENT_MS);
  for (const domain of domains) {
    const found = statuses(findings, domain);
    t.deepEqual(Object.keys(found), OF_DOMAIN);
    const details = findings.filter(({ subject: about, status }) => about === domain && status !== 'ok');
    t.like(found, { mx: 'ok', spf: 'ok', dkim: 'ok', dmarc: 'ok', srv: 'ok', ptr: 'ok' }, JSON.stringify(details));
  }
});

test('DNS that does not answer is a warning that says so, in time', async (t) => {
  const { subject, server } = await subjectFor(t, { dnsMs: SILENCE_MS });
  for (const name of [...server.zones.keys()]) server.zones.set(name, { silent: true });
  const findings = await examine(subject, [DOMAIN], PATIENT_MS);
  const found = statuses(findings);
  t.deepEqual(Object.keys(found), OF_DOMAIN);
  for (const check of ['mx', 'spf', 'dkim', 'dmarc', 'ipv6']) t.is(found[check], 'warn', check);
  t.regex(
    findings.find(({ check }) => check === 'mx')!.detail,
    /^DNS gives no answer for MX of example\.org \(ETIMEOUT\)$/,
  );
});

test('a server that fails, and names that do not exist', async (t) => {
  const { subject, server } = await subjectFor(t);
  for (const name of [...server.zones.keys()]) server.zones.set(name, { rcode: 'SERVFAIL' });
  const failing = await examine(subject, [DOMAIN], PATIENT_MS);
  t.is(statuses(failing)['mx'], 'warn');
  t.regex(failing.find(({ check }) => check === 'spf')!.detail, /ESERVFAIL/);
});

test('a domain that does not exist fails where mail depends on it', async (t) => {
  const { subject, server } = await subjectFor(t);
  server.zones.clear();
  const found = statuses(await examine(subject, [DOMAIN], PATIENT_MS));
  t.like(found, { mx: 'fail', spf: 'fail', dkim: 'fail', dmarc: 'warn', 'tls-rpt': 'warn', srv: 'warn', ptr: 'warn' });
});

test('hostile records are shown cut and without control characters, and loops end', async (t) => {
  const { subject, server } = await subjectFor(t);
  const huge = `v=DKIM1; p=${'A'.repeat(20_000)}`;
  server.zones.set('mansio._domainkey.example.org', { TXT: [huge] });
  server.zones.set(DOMAIN, { TXT: [`v=spf1 \u001b[31m ${'a'.repeat(3000)}`], MX: [[10, HOST]] });
  server.zones.set(HOST, { CNAME: 'loop.example.org' });
  server.zones.set('loop.example.org', { CNAME: HOST });
  server.zones.set('_dmarc.example.org', { TXT: Array.from({ length: 50 }, () => 'v=DMARC1; p=none') });
  server.zones.set('_smtp._tls.example.org', { CNAME: '_smtp._tls.example.org' });
  const findings = await examine(subject, [DOMAIN], PATIENT_MS);
  t.deepEqual(Object.keys(statuses(findings)), OF_DOMAIN);
  for (const { detail } of findings) {
    t.true(detail.length < 600, detail);
    t.notRegex(detail, /\p{Cc}/u);
  }
  t.like(statuses(findings), { dkim: 'fail', dmarc: 'fail' });
});

test('a check that hangs or breaks is a warning, and the others are reported', async (t) => {
  const hangs = () => new Promise<never>(() => undefined);
  const breaks = () => Promise.reject(new Error('no such column\n  at position 7'));
  const { subject } = await subjectFor(t, { store: { unclaimed: hangs, overdueMs: breaks } });
  const findings = await examine(subject, [], 1_000);
  const of = (name: string) => findings.filter(({ check }) => check === name);
  t.like(of('unclaimed'), [{ status: 'warn', detail: 'no answer within 1 s: not checked', fix: 'mansio doctor' }]);
  t.like(of('queue'), [{ status: 'warn', detail: 'not checked: no such column; at position 7' }]);
  t.is(of('database').length, 4);
});
