// Tests the DNS records of a domain, by the addresses of the cluster: for mail servers, for mail programs, and a note where a
// record is unknown.

import { type DnsRecord, dnsPlan, type PublicEndpoints, zoneLines } from '../../../src/node/domains/dns-records.js';
import test from '../../support/test.js';

const HOST = { enabled: true, serverName: 'mail.example.org' };
const OFF = { enabled: false, serverName: 'mail.example.org', port: 0, securePort: 0 };
const ENDPOINTS: PublicEndpoints = {
  connectionInfo: {
    smtp: { ...HOST, port: 587, securePort: 465 },
    imap: { ...HOST, port: 143, securePort: 993 },
    pop3: OFF,
  },
  mxAddress: 'mx.example.org:25',
  apiUrl: 'https://app.example.org/mail',
  stsPolicy: { id: '0123456789abcdef0123' },
};
const DKIM: DnsRecord = { name: 'mansio._domainkey.example.org', type: 'TXT', value: ['v=DKIM1; p=AAA', 'BBB'] };

const linesOf = (endpoints: Partial<PublicEndpoints>) =>
  zoneLines(dnsPlan('example.org', [DKIM], { ...ENDPOINTS, ...endpoints }));
const notesOf = (endpoints: Partial<PublicEndpoints>) =>
  dnsPlan('example.org', [DKIM], { ...ENDPOINTS, ...endpoints }).notes;

test('every record of a domain, as a zone file has them', (t) => {
  t.deepEqual(linesOf({}), [
    'example.org. IN MX 10 mx.example.org.',
    'example.org. IN TXT "v=spf1 mx ~all"',
    'mansio._domainkey.example.org. IN TXT "v=DKIM1; p=AAA" "BBB"',
    '_dmarc.example.org. IN TXT "v=DMARC1; p=none; rua=mailto:postmaster@example.org"',
    '_mta-sts.example.org. IN TXT "v=STSv1; id=0123456789abcdef0123"',
    'mta-sts.example.org. IN CNAME app.example.org.',
    '_smtp._tls.example.org. IN TXT "v=TLSRPTv1; rua=mailto:postmaster@example.org"',
    '_submissions._tcp.example.org. IN SRV 0 1 465 mail.example.org.',
    '_submission._tcp.example.org. IN SRV 10 1 587 mail.example.org.',
    '_imaps._tcp.example.org. IN SRV 0 1 993 mail.example.org.',
    '_imap._tcp.example.org. IN SRV 10 1 143 mail.example.org.',
    '_pop3s._tcp.example.org. IN SRV 0 0 0 .',
    '_pop3._tcp.example.org. IN SRV 0 0 0 .',
    'autoconfig.example.org. IN CNAME app.example.org.',
    'autodiscover.example.org. IN CNAME app.example.org.',
    '_autodiscover._tcp.example.org. IN SRV 0 1 443 app.example.org.',
  ]);
});

test('a service that no node announces says so; POP3 comes after IMAP', (t) => {
  const { imap, smtp } = ENDPOINTS.connectionInfo;
  const pop3 = { ...HOST, port: 0, securePort: 995 };
  const lines = linesOf({ connectionInfo: { smtp: { ...smtp, securePort: 0 }, imap, pop3 } });
  t.true(lines.includes('_submissions._tcp.example.org. IN SRV 0 0 0 .'));
  t.true(lines.includes('_pop3s._tcp.example.org. IN SRV 20 1 995 mail.example.org.'));
  t.true(lines.includes('_pop3._tcp.example.org. IN SRV 0 0 0 .'));
});

test('MTA-STS only where senders can read the policy, at port 443 with TLS', (t) => {
  const isSts = (line: string) => line.includes('mta-sts');
  t.deepEqual(linesOf({ stsPolicy: undefined }).filter(isSts), []);
  t.deepEqual(notesOf({ stsPolicy: undefined }), []);
  for (const apiUrl of [undefined, 'http://app.example.org', 'https://app.example.org:8443', 'https://192.0.2.1']) {
    t.deepEqual(
      linesOf({ apiUrl }).filter((line) => isSts(line) && !line.startsWith(';')),
      [],
      apiUrl,
    );
    t.regex(notesOf({ apiUrl }).join(), /MTA-STS: MANSIO_PUBLIC_URL/);
  }
  t.deepEqual(linesOf({ apiUrl: 'https://mta-sts.example.org' }).filter(isSts)[0], linesOf({}).filter(isSts)[0]);
  t.false(linesOf({ apiUrl: 'https://mta-sts.example.org' }).some((line) => line.startsWith('mta-sts.')));
});

test('a domain without a key is told so', (t) => {
  const { notes } = dnsPlan('example.org', [], ENDPOINTS);
  t.deepEqual(notes, [
    'DKIM: example.org has no key, so its mail leaves unsigned: mansio domain add example.org makes keys',
  ]);
});

test('mail goes to port 25, and to a name', (t) => {
  t.deepEqual(notesOf({}), []);
  t.regex(
    notesOf({ mxAddress: 'mail.example.org:2525' }).join(),
    /connect to port 25 of mail\.example\.org, not to 2525/,
  );
  t.true(linesOf({ mxAddress: 'mail.example.org:2525' }).includes('example.org. IN MX 10 mail.example.org.'));
  for (const mxAddress of [undefined, '192.0.2.7:25', '[2001:db8::1]:25', 'vm:25']) {
    t.is(notesOf({ mxAddress }).length, 1);
    t.false(linesOf({ mxAddress }).some((line) => line.includes(' IN MX ')));
  }
});

test('no SRV record names an address, and no note stands twice', (t) => {
  const { imap, pop3, smtp } = ENDPOINTS.connectionInfo;
  const endpoints = { connectionInfo: { smtp, pop3, imap: { ...imap, serverName: '[2001:db8::1]' } } };
  t.false(linesOf(endpoints).some((line) => /_imaps?\._tcp/.test(line)));
  t.deepEqual(notesOf(endpoints), ['SRV: [2001:db8::1] is not the full name of a host (MANSIO_HOSTNAME)']);
});

test('programs ask over https at names of the domain', (t) => {
  for (const apiUrl of [undefined, 'http://app.example.org', 'https://192.0.2.7', 'https://[2001:db8::1]:8443/x']) {
    t.is(notesOf({ apiUrl, stsPolicy: undefined }).length, 1, apiUrl);
    t.false(linesOf({ apiUrl }).some((line) => /^_?auto/.test(line)));
  }
  const own = linesOf({ apiUrl: 'https://autoconfig.example.org:8443' });
  t.false(own.some((line) => line.startsWith('autoconfig.')));
  t.true(own.includes('autodiscover.example.org. IN CNAME autoconfig.example.org.'));
  t.true(own.includes('_autodiscover._tcp.example.org. IN SRV 0 1 8443 autoconfig.example.org.'));
});
