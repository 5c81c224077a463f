// Tests SPF, DKIM and DMARC of a domain, each with one fault at a time.

import type { Zone } from '../../../../dev/servers/dns-server.js';
import type { DomainCheck } from '../../../../src/node/doctor/check.js';
import { dkimCheck, dmarcCheck, spfCheck } from '../../../../src/node/doctor/domain/sender-checks.js';
import test from '../../../support/test.js';
import { ADDRESS, DOMAIN, subjectFor } from '../subjects.js';

interface Teardowns {
  teardown(work: () => Promise<void>): void;
}

/** Runs the check after `zones` have replaced those that are printed. */
async function after(t: Teardowns, check: DomainCheck, zones: Readonly<Record<string, Zone>>, domain = DOMAIN) {
  const { subject, server, planOf } = await subjectFor(t, { domains: [domain] });
  for (const [name, zone] of Object.entries(zones)) server.zones.set(name, zone);
  return check.run({ name: domain, plan: planOf(domain) }, subject);
}

test('SPF: who may send, and how many look-ups it takes', async (t) => {
  const of = (...texts: string[]) => after(t, spfCheck, { [DOMAIN]: { TXT: texts, MX: [[10, 'mail.example.org']] } });
  t.like(await of('v=spf1 mx -all'), { status: 'ok', detail: `${ADDRESS} may send; 1 look-up of 10` });
  t.like(await of('v=spf1 ip4:192.0.2.0/24 -all'), {
    status: 'fail',
    fix: `${DOMAIN}. IN TXT "v=spf1 ip4:${ADDRESS} ip4:192.0.2.0/24 -all"`,
  });
  t.like(await of('v=spf1 ~all'), { status: 'fail' });
  t.like(await of('v=spf1 +all'), { status: 'warn', fix: `${DOMAIN}. IN TXT "v=spf1 ~all"` });
  t.like(await of('google-site-verification=x'), { status: 'fail', detail: 'there is no SPF record' });
  t.like(await of('v=spf1 mx -all', 'v=spf1 a -all'), { status: 'fail' });
  t.like(await of('v=spf1 ip4:999 -all'), { status: 'fail' });
  const many = Array.from({ length: 11 }, (_, i) => `a:mail${i}.example.org`).join(' ');
  const addresses = Object.fromEntries(
    Array.from({ length: 11 }, (_, i) => [`mail${i}.example.org`, { A: ['192.0.2.1'] }]),
  );
  const ten = many.split(' ').slice(0, 9).join(' ');
  const most = await after(t, spfCheck, {
    ...addresses,
    [DOMAIN]: { TXT: [`v=spf1 ${ten} mx -all`], MX: [[10, 'mail.example.org']] },
  });
  t.like(most, { status: 'ok', detail: `${ADDRESS} may send; 10 look-ups of 10` });
  const tooMany = await after(t, spfCheck, { ...addresses, [DOMAIN]: { TXT: [`v=spf1 ${many} mx -all`] } });
  t.like(tooMany, { status: 'fail', fix: `${DOMAIN}. IN TXT "v=spf1 ip4:${ADDRESS} ~all"` });
  t.regex(tooMany.detail, /^it takes more than 10 look-ups/);
});

test('SPF of a domain whose mail leaves through a smart host', async (t) => {
  const relays = new Map([[DOMAIN, 'smtps://joe:secret@smtp.relay.test']]);
  const of = async (text: string) => {
    const { subject, server, planOf } = await subjectFor(t, { domains: [DOMAIN] });
    server.zones.set(DOMAIN, { TXT: [text] });
    const relayed = { ...subject, facts: { ...subject.facts!, relays } };
    return spfCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, relayed);
  };
  const own = await of('v=spf1 mx ~all');
  t.like(own, { status: 'warn', fix: `${DOMAIN}. IN TXT "v=spf1 a:smtp.relay.test mx ~all"` });
  t.regex(own.detail, /^mail leaves through the smart host smtp\.relay\.test:465, which/);
  const named = await of('v=spf1 include:spf.relay.test -all');
  t.is(named.status, 'ok');
  t.false(JSON.stringify([own, named]).includes('secret'));
  relays.set(DOMAIN, 'direct');
  t.is((await of('v=spf1 ip4:192.0.2.0/24 -all')).status, 'fail');
});

test('DKIM: the published key has to be ours, and to verify', async (t) => {
  const RSA = 'mansio._domainkey.example.org';
  const ED25519 = 'mansio-ed25519._domainkey.example.org';
  const { planOf } = await subjectFor(t);
  const [rsa] = planOf(DOMAIN).dkim.map(({ record }) => record.value.join(''));
  const of = (name: string, ...texts: string[]) => after(t, dkimCheck, { [name]: { TXT: texts } });
  const found = await of('other.example.org', '');
  t.like(found, { status: 'ok', detail: 'mansio (rsa), mansio-ed25519 (ed25519): signed and verified' });
  t.like(await of(RSA), { status: 'fail', detail: `${RSA} is not published` });
  t.like(await of(ED25519), { status: 'warn', detail: `${ED25519} is not published` });
  t.like(await of(ED25519, 'v=DKIM1; k=ed25519; p=AAAA'), { status: 'fail' });
  t.like(await of(RSA, rsa!, rsa!), { status: 'fail', detail: `${RSA} has 2 records` });
  t.like(await of(RSA, rsa!.replace('p=', 'p= ')), { status: 'ok' });
  // The key is ours, and its record forbids what it is for.
  t.like(await of(RSA, rsa!.replace('v=DKIM1;', 'v=DKIM1; s=other;')), { status: 'fail' });
  t.like(await of(RSA, 'v=DKIM1; k=rsa; p='), { status: 'fail' });
  const { subject } = await subjectFor(t);
  const without = { ...subject, facts: { ...subject.facts!, keys: [] } };
  const plan = { ...planOf(DOMAIN), dkim: [] };
  t.like(await dkimCheck.run({ name: DOMAIN, plan }, without), { status: 'fail', fix: `mansio domain add ${DOMAIN}` });
});

test('DMARC: one record here, or one above', async (t) => {
  const of = (...texts: string[]) => after(t, dmarcCheck, { '_dmarc.example.org': { TXT: texts } });
  t.like(await of('v=DMARC1; p=reject'), { status: 'ok', detail: 'p=reject' });
  t.like(await of('v=DMARC1; p=none'), { status: 'ok', detail: 'p=none asks for reports only' });
  t.like(await of(), { status: 'warn' });
  t.like(await of('v=DMARC1; p=all'), { status: 'fail' });
  t.like(await of('v=DMARC1; p=none', 'v=DMARC1; p=reject'), { status: 'fail' });
  const parent = {
    '_dmarc.shop.example.org': {},
    '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject; sp=quarantine'] },
  };
  t.like(await after(t, dmarcCheck, parent, 'shop.example.org'), {
    status: 'ok',
    detail: 'the record of example.org counts: p=quarantine',
  });
});
