// Tests the settings of single services: mail that leaves, IMAP and POP3, logins, Web Push.
import { createECDH } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { describeConfig, readConfig } from '../../../src/node/config/config.js';
import { ConfigError } from '../../../src/node/config/error.js';
import test from '../../support/test.js';
import { problemsOf } from './config-problems.js';

test('mail that leaves: name servers, the signing key, passwords in the clear', (t) => {
  const pem = join(temporaryDirectory('mansio-config-'), 'dkim.pem');
  writeFileSync(pem, '');
  const dns = readConfig({ MANSIO_OUTBOUND_DNS: '127.0.0.1:5353, 192.0.2.53,2001:DB8::53,[::1]:54' }).outboundDns;
  t.deepEqual(dns, ['127.0.0.1:5353', '192.0.2.53:53', '[2001:db8::53]:53', '[::1]:54']);
  t.deepEqual(readConfig({ MANSIO_OUTBOUND_DNS: 'localhost:5353' }).outboundDns, ['127.0.0.1:5353']);
  t.deepEqual(readConfig({ MANSIO_OUTBOUND_DNS: 'localhost:5353' }).dns, ['127.0.0.1:5353']);
  const apart = readConfig({ MANSIO_OUTBOUND_DNS: 'localhost:5353', MANSIO_DNS: '192.0.2.53' });
  t.deepEqual([apart.outboundDns, apart.dns], [['127.0.0.1:5353'], ['192.0.2.53:53']]);
  t.deepEqual([readConfig({}).dns, problemsOf({ MANSIO_DNS: 'ns.example.org' })], [undefined, ['MANSIO_DNS']]);
  for (const bad of ['ns.example.org', '127.0.0.1:0', '127.0.0.1:x', '[::1', '1.2.3.4:65536', '127.0.0.1,,::1']) {
    t.deepEqual(problemsOf({ MANSIO_OUTBOUND_DNS: bad }), ['MANSIO_OUTBOUND_DNS'], bad);
  }
  t.deepEqual(problemsOf({ MANSIO_DKIM_KEY: pem }), ['MANSIO_DKIM_SELECTOR']);
  t.deepEqual(problemsOf({ MANSIO_DKIM_SELECTOR: 'mail' }), ['MANSIO_DKIM_KEY']);
  const signing = { MANSIO_DKIM_SELECTOR: 'Mail', MANSIO_DKIM_KEY: pem };
  t.deepEqual(readConfig(signing).dkim, { selector: 'mail', key: pem });
  t.true(readConfig({}).allowPlaintextAuth);
  t.false(readConfig({ MANSIO_HOSTED_DOMAINS: 'example.org' }).allowPlaintextAuth);
  t.false(readConfig({ MANSIO_ALLOW_PLAINTEXT_AUTH: 'false' }).allowPlaintextAuth);
  t.deepEqual(problemsOf({ MANSIO_ALLOW_PLAINTEXT_AUTH: 'true', MANSIO_BIND: '0.0.0.0' }), [
    'MANSIO_ALLOW_PLAINTEXT_AUTH',
  ]);
  t.deepEqual(problemsOf({ MANSIO_SUBMISSIONS_PORT: '2587' }), ['MANSIO_SUBMISSIONS_PORT']);
});

test('IMAP and POP3 have roles and ports, and what is told to clients is a host and a port', (t) => {
  const none = readConfig({});
  t.deepEqual([none.imapPort, none.imapsPort, none.pop3Port, none.pop3sPort], [2143, 2993, 2110, 2995]);
  t.is(none.sievePort, 4190);
  const set = readConfig({
    ...{ MANSIO_ROLES: 'mailbox,imap,pop3', MANSIO_IMAP_PORT: '143', MANSIO_POP3S_PORT: '995' },
    ...{ MANSIO_PUBLIC_SUBMISSION: 'Mail.Example.org:587', MANSIO_PUBLIC_IMAPS: '[2001:DB8::1]:993' },
    ...{ MANSIO_PUBLIC_POP3: '192.0.2.7:110', MANSIO_PUBLIC_SMTP: 'MX.example.org:25' },
  });
  t.deepEqual([...set.roles], ['mailbox', 'imap', 'pop3']);
  t.deepEqual([set.imapPort, set.pop3sPort], [143, 995]);
  t.deepEqual(
    [set.publicSmtp, set.publicSubmission, set.publicSubmissions, set.publicImaps, set.publicPop3],
    ['mx.example.org:25', 'mail.example.org:587', undefined, '[2001:db8::1]:993', '192.0.2.7:110'],
  );
  t.deepEqual(problemsOf({ MANSIO_IMAP_PORT: '2993' }), ['MANSIO_IMAPS_PORT']);
  t.deepEqual(problemsOf({ MANSIO_POP3_PORT: '2525' }), ['MANSIO_POP3_PORT']);
});

test('logins and the anonymous account exclude each other, and an own provider may do without TLS', (t) => {
  const authority = { MANSIO_OIDC_AUTHORITY: 'http://localhost:9000/realm/' };
  t.is(readConfig(authority).oidcAuthority, 'http://localhost:9000/realm');
  t.is(readConfig({ MANSIO_OIDC_AUTHORITY: 'http://127.0.0.1:9000' }).oidcAuthority, 'http://127.0.0.1:9000');
  t.is(readConfig({ MANSIO_OIDC_AUTHORITY: 'https://login.example.org/' }).oidcAuthority, 'https://login.example.org');
  t.deepEqual(problemsOf({ ...authority, MANSIO_ANONYMOUS_ACCOUNT: 'a@b.c' }), ['MANSIO_ANONYMOUS_ACCOUNT']);
});

test('the keys of Web Push are a pair, and the private one is told to nobody', (t) => {
  const make = () => {
    const pair = createECDH('prime256v1');
    pair.generateKeys();
    const privateKey = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()])
      .subarray(-32)
      .toString('base64url');
    return { MANSIO_VAPID_PUBLIC_KEY: pair.getPublicKey('base64url'), MANSIO_VAPID_PRIVATE_KEY: privateKey };
  };
  const [one, other] = [make(), make()];
  t.is(readConfig(one).vapid?.publicKey, one.MANSIO_VAPID_PUBLIC_KEY);
  t.is(readConfig({}).vapid, undefined);
  t.deepEqual(problemsOf({ ...one, ...{ MANSIO_VAPID_PUBLIC_KEY: other.MANSIO_VAPID_PUBLIC_KEY } }), [
    'MANSIO_VAPID_PUBLIC_KEY',
  ]);
  for (const name of ['MANSIO_VAPID_PUBLIC_KEY', 'MANSIO_VAPID_PRIVATE_KEY'] as const) {
    t.deepEqual(problemsOf({ [name]: one[name] }), ['MANSIO_VAPID_PUBLIC_KEY'], name);
  }
  t.false(JSON.stringify(describeConfig(one)).includes(one.MANSIO_VAPID_PRIVATE_KEY));
  const error = t.throws(() => readConfig({ MANSIO_VAPID_PRIVATE_KEY: 'hunter2' }), { instanceOf: ConfigError });
  t.false(JSON.stringify([error?.message, error?.problems]).includes('hunter2'));
});

test('DNS block lists: zones with an action each, and the keys of subscribers are not shown', (t) => {
  t.deepEqual(readConfig({}).dnsbl, []);
  t.deepEqual(readConfig({ MANSIO_DNSBL: 'Zen.Spamhaus.org., bl.test=junk,other.test = refuse' }).dnsbl, [
    { zone: 'zen.spamhaus.org', action: 'refuse' },
    { zone: 'bl.test', action: 'junk' },
    { zone: 'other.test', action: 'refuse' },
  ]);
  const many = Array.from({ length: 11 }, (_, i) => `bl${i}.test`).join(',');
  for (const wrong of [
    'bl.test=score',
    'bl.test=junk=refuse',
    '=junk',
    'bl.test,',
    'a b.test',
    'bl.test,bl.test=junk',
    many,
  ])
    t.deepEqual(problemsOf({ MANSIO_DNSBL: wrong }), ['MANSIO_DNSBL'], wrong);
  const zone = 'abcdefghijklmnopqrstuvwxyz.zen.dq.spamhaus.net, bl.test=junk';
  const row = describeConfig({ MANSIO_DNSBL: zone }).find(({ name }) => name === 'MANSIO_DNSBL');
  t.is(row?.value, '[hidden].zen.dq.spamhaus.net,bl.test=junk');
  t.is(readConfig({}).greylist, 'off');
  t.is(readConfig({ MANSIO_GREYLIST: 'doubtful' }).greylist, 'doubtful');
  t.deepEqual(problemsOf({ MANSIO_GREYLIST: 'all' }), ['MANSIO_GREYLIST']);
});

test('reports to others are on or off, and the effective settings say it in these words', (t) => {
  const shown = (env: Record<string, string>) =>
    describeConfig(env).find(({ name }) => name === 'MANSIO_REPORTS')?.value;
  t.is(shown({}), 'off');
  t.is(shown({ MANSIO_REPORTS: 'on' }), 'on');
  t.is(shown({ MANSIO_REPORTS: 'false' }), 'off');
  t.is(readConfig({ MANSIO_REPORTS: 'on' }).reports, 'on');
  t.deepEqual(problemsOf({ MANSIO_REPORTS: 'daily' }), ['MANSIO_REPORTS']);
});
