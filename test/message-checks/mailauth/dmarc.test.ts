// Tests DMARC by RFC 9989: whose policy applies, what is aligned, and what happens to a message whose author is unknown. The
// records are in a real DNS server.
import type { ExecutionContext } from 'ava';
import type { Zone } from '../../../dev/servers/dns-server.js';
import type { AuthorFault } from '../../../src/mail-format/authentication/author-domains.js';
import test from '../../support/test.js';
import { startPeers } from './peers.js';

type Setting = 'tag' | 'reject' | 'none';

/** A policy record, and the SPF record that lets a domain pass for the peer of the test. */
const policy = (text: string): Zone => ({ TXT: [`v=DMARC1; ${text}`] });
const SENDER: Zone = { TXT: ['v=spf1 ip4:192.0.2.1 -all'] };

const from = (author: string) => `From: ${author}\nSubject: x\n\nbody\n`;

async function start(t: ExecutionContext, zones: Readonly<Record<string, Zone>>) {
  const { authenticate, dns } = await startPeers(t, zones);
  /** Returns the results of DMARC, and the verdict, for a message with this header and envelope sender. */
  const said = async (header: string, sender: string, dmarcReject: Setting = 'tag') => {
    const { field, verdict } = await authenticate(header, { sender }, { dmarcReject });
    const results = [...field.matchAll(/;\r\n\tdmarc=([^;\r]*)/g)].map(([, result]) => result);
    return `${results.join('; ')}: ${verdict}`;
  };
  const dmarc = (author: string, sender: string) => said(from(author), sender);
  const asked = () => dns.asked.filter((question) => question.startsWith('TXT _dmarc.'));
  return { said, dmarc, asked, dns };
}

test('a policy is found by walking up the tree, without a list of public suffixes', async (t) => {
  const { dmarc } = await start(t, {
    '_dmarc.org.test': policy('p=reject; sp=quarantine'),
    'org.test': SENDER,
    'mail.org.test': SENDER,
    'deep.er.org.test': SENDER,
    // This public suffix of the list has its own policy.
    '_dmarc.blogspot.com': policy('p=reject'),
    'mine.blogspot.com': SENDER,
  });
  t.is(await dmarc('a@org.test', 'b@mx.test'), 'fail (p=reject) header.from=org.test: junk');
  t.is(await dmarc('a@x.y.org.test', 'b@mx.test'), 'fail (p=quarantine) header.from=x.y.org.test: junk');
  t.is(await dmarc('a@x.y.org.test', 'b@deep.er.org.test'), 'pass (p=quarantine) header.from=x.y.org.test: accept');
  t.is(await dmarc('a@yours.blogspot.com', 'b@mx.test'), 'fail (p=reject) header.from=yours.blogspot.com: junk');
  t.is(
    await dmarc('a@yours.blogspot.com', 'b@mine.blogspot.com'),
    'pass (p=reject) header.from=yours.blogspot.com: accept',
  );
  // Organizational domains below a suffix without a record are unknown.
  t.is(await dmarc('a@x.nowhere.test', 'b@mx.test'), 'none header.from=x.nowhere.test: accept');
});

test('psd=y: the domain below a public suffix is the organizational one', async (t) => {
  const { dmarc } = await start(t, {
    '_dmarc.suffix.test': policy('p=quarantine; sp=reject; psd=y'),
    'evil.suffix.test': SENDER,
    'bank.suffix.test': SENDER,
    'mail.bank.suffix.test': SENDER,
    'www.bank.suffix.test': {},
    '_dmarc.shop.suffix.test': policy('p=none'),
  });
  const result = 'header.from=www.bank.suffix.test';
  t.is(await dmarc('a@www.bank.suffix.test', 'b@mx.test'), `fail (p=reject) ${result}: junk`);
  t.is(await dmarc('a@www.bank.suffix.test', 'b@evil.suffix.test'), `fail (p=reject) ${result}: junk`);
  t.is(await dmarc('a@www.bank.suffix.test', 'b@bank.suffix.test'), `pass (p=reject) ${result}: accept`);
  t.is(await dmarc('a@www.bank.suffix.test', 'b@mail.bank.suffix.test'), `pass (p=reject) ${result}: accept`);
  // The policy of the suffix does not apply to an organization that has its own.
  t.is(await dmarc('a@shop.suffix.test', 'b@mx.test'), 'fail (p=none) header.from=shop.suffix.test: accept');
  // This is mail of the suffix itself.
  t.is(await dmarc('a@suffix.test', 'b@mx.test'), 'fail (p=quarantine) header.from=suffix.test: junk');
});

test('psd=n: a part of an organization is one of its own', async (t) => {
  const { dmarc } = await start(t, {
    '_dmarc.org.test': policy('p=reject'),
    'org.test': SENDER,
    '_dmarc.part.org.test': policy('p=reject; psd=n'),
    'mail.part.org.test': SENDER,
    '_dmarc.team.org.test': policy('p=reject'),
  });
  t.is(await dmarc('a@x.part.org.test', 'b@mail.part.org.test'), 'pass (p=reject) header.from=x.part.org.test: accept');
  t.is(await dmarc('a@x.part.org.test', 'b@org.test'), 'fail (p=reject) header.from=x.part.org.test: junk');
  t.is(await dmarc('a@org.test', 'b@mail.part.org.test'), 'fail (p=reject) header.from=org.test: junk');
  // A policy alone does not separate organizations.
  t.is(await dmarc('a@team.org.test', 'b@org.test'), 'pass (p=reject) header.from=team.org.test: accept');
});

test('np: names that do not exist have a policy of their own', async (t) => {
  const { dmarc } = await start(t, {
    '_dmarc.org.test': policy('p=none; sp=quarantine; np=reject'),
    'there.org.test': {},
    '_dmarc.plain.test': policy('p=none; sp=reject'),
    '_dmarc.broken.test': policy('p=none; np=reject'),
    'x.broken.test': { rcode: 'SERVFAIL' },
  });
  t.is(await dmarc('a@there.org.test', 'b@mx.test'), 'fail (p=quarantine) header.from=there.org.test: junk');
  t.is(await dmarc('a@invented.org.test', 'b@mx.test'), 'fail (p=reject) header.from=invented.org.test: junk');
  t.is(await dmarc('a@org.test', 'b@mx.test'), 'fail (p=none) header.from=org.test: accept');
  t.is(await dmarc('a@invented.plain.test', 'b@mx.test'), 'fail (p=reject) header.from=invented.plain.test: junk');
  t.is(await dmarc('a@x.broken.test', 'b@mx.test'), 'temperror header.from=x.broken.test: accept');
});

test('t=y takes one step off a policy, and pct none', async (t) => {
  const { said } = await start(t, {
    '_dmarc.rejects.test': policy('p=reject; t=y'),
    '_dmarc.quarantines.test': policy('p=quarantine; t=y'),
    '_dmarc.part.test': policy('p=reject; pct=0'),
  });
  const rejecting = (domain: string) => said(from(`a@${domain}`), 'b@mx.test', 'reject');
  t.is(await rejecting('rejects.test'), 'fail (p=reject t=y) header.from=rejects.test: junk');
  t.is(await rejecting('quarantines.test'), 'fail (p=quarantine t=y) header.from=quarantines.test: accept');
  t.is(await rejecting('part.test'), 'fail (p=reject) header.from=part.test: refuse');
});

test('records that are none, and records that cannot be applied', async (t) => {
  const { dmarc } = await start(t, {
    '_dmarc.two.test': { TXT: ['v=DMARC1; p=reject', 'v=DMARC1; p=none'] },
    '_dmarc.mixed.test': { TXT: ['other', 'V = DMARC1 ; P = Reject; p=none; unknown', 'v=dmarc1; p=none'] },
    '_dmarc.later.test': { TXT: ['p=reject; v=DMARC1'] },
    '_dmarc.wrong.test': policy('p=rejct'),
    '_dmarc.reports.test': policy('p=reject; sp=wrong; rua=mailto:a@reports.test'),
    '_dmarc.bare.test': { TXT: ['v=DMARC1'] },
  });
  t.is(await dmarc('a@two.test', 'b@mx.test'), 'none header.from=two.test: accept');
  t.is(await dmarc('a@mixed.test', 'b@mx.test'), 'fail (p=reject) header.from=mixed.test: junk');
  t.is(await dmarc('a@later.test', 'b@mx.test'), 'none header.from=later.test: accept');
  t.is(await dmarc('a@wrong.test', 'b@mx.test'), 'permerror (invalid policy record) header.from=wrong.test: accept');
  t.is(await dmarc('a@reports.test', 'b@mx.test'), 'fail (p=none) header.from=reports.test: accept');
  t.is(await dmarc('a@bare.test', 'b@mx.test'), 'permerror (invalid policy record) header.from=bare.test: accept');
  t.is(await dmarc('a@[192.0.2.1]', 'b@mx.test'), 'none header.from="[192.0.2.1]": accept');
});

test('a walk asks for eight names at most, and once', async (t) => {
  const { dmarc, asked } = await start(t, {
    '_dmarc.org.test': policy('p=reject'),
    'x.k.org.test': SENDER,
  });
  const author = 'a.b.c.d.e.f.g.h.i.j.k.org.test';
  t.is(await dmarc(`a@${author}`, 'b@x.k.org.test'), `pass (p=reject) header.from=${author}: accept`);
  const names = [author, 'g.h.i.j.k.org.test', 'h.i.j.k.org.test', 'i.j.k.org.test', 'j.k.org.test'];
  const walked = [...names, 'k.org.test', 'org.test', 'test', 'x.k.org.test'].map((name) => `TXT _dmarc.${name}`);
  t.deepEqual([...asked()].sort(), walked.sort());
});

test('DNS that fails above a domain: only a server for a whole top-level domain is passed over', async (t) => {
  const { dmarc } = await start(t, {
    '_dmarc.test': { rcode: 'SERVFAIL' },
    '_dmarc.org.test': policy('p=reject'),
    'sub.org.test': SENDER,
    '_dmarc.down.test': { rcode: 'SERVFAIL' },
    '_dmarc.www.down.test': policy('p=reject'),
    'www.down.test': SENDER,
    'mail.down.test': SENDER,
    'elsewhere.com': SENDER,
  });
  t.is(await dmarc('a@org.test', 'b@mx.test'), 'fail (p=reject) header.from=org.test: junk');
  t.is(await dmarc('a@org.test', 'b@sub.org.test'), 'pass (p=reject) header.from=org.test: accept');
  // The organizational domain is unknown: other domains may be aligned, the same one is.
  t.is(await dmarc('a@www.down.test', 'b@mail.down.test'), 'temperror (p=reject) header.from=www.down.test: accept');
  t.is(await dmarc('a@www.down.test', 'b@www.down.test'), 'pass (p=reject) header.from=www.down.test: accept');
  t.is(await dmarc('a@www.down.test', 'b@elsewhere.com'), 'fail (p=reject) header.from=www.down.test: junk');
  t.is(await dmarc('a@x.down.test', 'b@mx.test'), 'temperror header.from=x.down.test: accept');
});

test('the setting: into Junk, refused, or only told', async (t) => {
  const { said } = await start(t, {});
  const becomes = async (author: string, setting: Setting) =>
    (await said(from(author), 'b@mx.test', setting)).split(': ')[1];
  t.is(await becomes('a@reject.test', 'tag'), 'junk');
  t.is(await becomes('a@reject.test', 'reject'), 'refuse');
  t.is(await becomes('a@reject.test', 'none'), 'accept');
  t.is(await becomes('a@quarantine.test', 'tag'), 'junk');
  t.is(await becomes('a@quarantine.test', 'reject'), 'junk');
  t.is(await becomes('a@quarantine.test', 'none'), 'accept');
  t.is(await becomes('a@none.test', 'reject'), 'accept');
});

test('several authors are judged each, too many of them are suspect', async (t) => {
  const { said, asked } = await start(t, {});
  const two = 'none header.from=mx.test; fail (p=reject) header.from=reject.test: junk';
  t.is(await said(from('a@mx.test, b@reject.test'), 'b@mx.test'), two);
  const many = Array.from({ length: 30 }, (_, i) => `a@d${i}.test`).join(', ');
  const crowd = await said(from(many), 'b@mx.test');
  t.regex(crowd, /^(?:none header\.from=d\d\.test; ){5}permerror \(too many author domains\): junk$/);
  t.is(asked().filter((question) => /_dmarc\.d\d+\.test$/.test(question)).length, 5);
});

test('a message whose author nobody can tell fails, whatever Sender says', async (t) => {
  const { said } = await start(t, {});
  const words: Readonly<Record<AuthorFault, string>> = {
    missing: 'no From field',
    multiple: 'several From fields',
    malformed: 'malformed From field',
  };
  const sender = 'Sender: CEO <ceo@bank.test>\n';
  const cases: readonly (readonly [header: string, fault: AuthorFault, author?: string])[] = [
    [`${sender}Subject: x\n\nbody`, 'missing'],
    [`From:\n${sender}\nbody`, 'malformed'],
    [`From: nobody\n${sender}\nbody`, 'malformed'],
    [`From: "x <ceo@bank.test>\n${sender}\nbody`, 'malformed'],
    [`From: a@mx.test\nFrom: ceo@bank.test\n${sender}\nbody`, 'multiple', 'mx.test'],
    [`\ufeffFrom: ceo@bank.test\nFrom: a@mx.test\n${sender}\nbody`, 'multiple', 'bank.test'],
  ];
  for (const [header, fault, author] of cases) {
    const result = `fail (${words[fault]})${author === undefined ? '' : ` header.from=${author}`}`;
    t.is(await said(header, 'b@mx.test'), `${result}: junk`, header);
    t.is(await said(header, 'b@mx.test', 'reject'), `${result}: refuse`, header);
    t.is(await said(header, 'b@mx.test', 'none'), `${result}: accept`, header);
  }
});

test('a message that names nobody is under the policy of the envelope sender, who is shown', async (t) => {
  const { said } = await start(t, {});
  const fail = 'fail (no From field)';
  for (const header of ['Subject: x\n\nbody', 'body without a header', '']) {
    t.is(await said(header, 'b@mx.test'), `${fail}: accept`, header);
    t.is(await said(header, 'b@reject.test'), `${fail}: junk`, header);
    t.is(await said(header, ''), `${fail}: junk`, header);
    t.is(await said(header, 'b@mx.test', 'reject'), `${fail}: refuse`, header);
  }
});

test('a byte order mark hides no author from a policy', async (t) => {
  const { dmarc } = await start(t, {});
  t.is(await dmarc('a@reject.test', 'b@mx.test'), 'fail (p=reject) header.from=reject.test: junk');
  const { said } = await start(t, {});
  t.is(await said(`\ufeff${from('a@reject.test')}`, 'b@mx.test'), 'fail (p=reject) header.from=reject.test: junk');
});
