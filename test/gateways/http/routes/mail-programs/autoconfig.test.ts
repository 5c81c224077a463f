// Tests the settings that mail programs ask for (test/support/mail-programs): documents in their formats that name only servers
// that run, and are the same for every address of a domain.

import { type RecordedReply, sendRecorded } from '../../../../support/clients/mail-program-requests.js';
import test from '../../../../support/test.js';
import { IMAP, OFF, SUBMISSION, startGateway } from '../../gateway.js';

const SERVERS = { smtp: SUBMISSION, imap: IMAP, pop3: { ...IMAP, port: 110, securePort: 995 } };
const ANNA = 'anna@example.test';

const client = (
  type: string,
  port: number,
  socketType: string,
  side = 'incomingServer',
) => `    <${side} type="${type}">
      <hostname>mail.example.test</hostname>
      <port>${port}</port>
      <socketType>${socketType}</socketType>
      <authentication>password-cleartext</authentication>
      <username>%EMAILADDRESS%</username>
    </${side}>
`;

const CLIENT_CONFIG = `<?xml version="1.0" encoding="utf-8"?>
<clientConfig version="1.1">
  <emailProvider id="example.test">
    <domain>example.test</domain>
    <displayName>example.test</displayName>
    <displayShortName>example.test</displayShortName>
${client('imap', 993, 'SSL')}${client('imap', 143, 'STARTTLS')}${client('pop3', 995, 'SSL')}${client('pop3', 110, 'STARTTLS')}${client('smtp', 465, 'SSL', 'outgoingServer')}${client('smtp', 587, 'STARTTLS', 'outgoingServer')}  </emailProvider>
</clientConfig>
`;

const protocol = (type: string, port: number, encryption: string, email: string, more = '') => `      <Protocol>
        <Type>${type}</Type>
        <Server>mail.example.test</Server>
        <Port>${port}</Port>
        <LoginName>${email}</LoginName>
        <DomainRequired>off</DomainRequired>
        <SPA>off</SPA>
        <SSL>on</SSL>
        <Encryption>${encryption}</Encryption>
        <AuthRequired>on</AuthRequired>
${more}      </Protocol>
`;

const settings = (email = ANNA) => `<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006">
  <Response xmlns="http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a">
    <User>
      <DisplayName>${email}</DisplayName>
    </User>
    <Account>
      <AccountType>email</AccountType>
      <Action>settings</Action>
${protocol('IMAP', 993, 'SSL', email)}${protocol('POP3', 995, 'SSL', email)}${protocol('SMTP', 465, 'SSL', email, '        <UsePOPAuth>on</UsePOPAuth>\n        <SMTPLast>off</SMTPLast>\n')}    </Account>
  </Response>
</Autodiscover>
`;

/** Returns the code of an Autodiscover fault; undefined for settings. */
function faultOf({ status, body }: RecordedReply): string | undefined {
  if (status !== 200) throw new Error(`status ${status}: ${body}`);
  return /<Error Time="\d\d:\d\d:\d\d\.\d{3}" Id="0">\s*<ErrorCode>(\d+)<\/ErrorCode>/.exec(body)?.[1];
}

for (const name of ['thunderbird-autoconfig', 'thunderbird-well-known', 'thunderbird-without-address']) {
  test(`${name}: the file names every server, TLS from the start first`, async (t) => {
    const { port } = await startGateway(t, { advertised: { connectionInfo: SERVERS } });
    const { status, headers, body } = await sendRecorded(port, name);
    t.is(status, 200);
    t.is(headers.get('content-type'), 'text/xml; charset=utf-8');
    t.is(body, CLIENT_CONFIG);
  });
}

for (const name of ['thunderbird-autodiscover', 'outlook-autodiscover', 'outlook-2007-autodiscover']) {
  test(`${name}: one server of each protocol`, async (t) => {
    const { port, log } = await startGateway(t, { advertised: { connectionInfo: SERVERS } });
    const { status, headers, body } = await sendRecorded(port, name);
    t.is(status, 200);
    t.is(headers.get('content-type'), 'text/xml; charset=utf-8');
    t.is(body, settings());
    // Thunderbird sends the password of its user.
    t.false(JSON.stringify(log).includes('Basic'));
  });
}

for (const name of ['outlook-json', 'outlook-json-in-path']) {
  test(`${name}: the URL of the XML`, async (t) => {
    const published = await startGateway(t, { advertised: { apiUrl: 'https://app.example.test/mail-format' } });
    const { status, headers, body } = await sendRecorded(published.port, name);
    t.is(status, 200);
    t.is(headers.get('content-type'), 'application/json; charset=utf-8');
    t.deepEqual(JSON.parse(body), {
      Protocol: 'AutodiscoverV1',
      Url: 'https://app.example.test/mail-format/autodiscover/autodiscover.xml',
    });
    const { port } = await startGateway(t);
    t.is(
      JSON.parse((await sendRecorded(port, name)).body).Url,
      'https://autodiscover.example.test/autodiscover/autodiscover.xml',
    );
  });
}

test('a look whether Autodiscover is there', async (t) => {
  const { port } = await startGateway(t);
  t.is(faultOf(await sendRecorded(port, 'outlook-probe')), '600');
});

test('programs that are set up as Exchange are told that it is none', async (t) => {
  const { port } = await startGateway(t);
  for (const name of ['exquilla-json', 'macos-mail-json']) {
    const { status, body } = await sendRecorded(port, name);
    t.is(status, 400, name);
    t.deepEqual(JSON.parse(body).errors, { Protocol: ['must be one of AutodiscoverV1'] });
  }
  t.is(faultOf(await sendRecorded(port, 'ios-mail-activesync')), '601');
});

test('paths and names of the query are taken in any case', async (t) => {
  const gateway = await startGateway(t);
  const { port } = gateway;
  for (const path of [
    '/AutoDiscover/AutoDiscover.xml',
    '/AUTODISCOVER/autodiscover.XML',
    '/autodiscover/Autodiscover.xml',
  ])
    t.is(
      faultOf(await sendRecorded(port, 'outlook-autodiscover', { '/autodiscover/autodiscover.xml': path })),
      undefined,
      path,
    );
  for (const path of [
    `/Autodiscover/Autodiscover.json?email=${ANNA}&protocol=autodiscoverv1`,
    `/AutoDiscover/AutoDiscover.json/V1.0/${ANNA}?PROTOCOL=AUTODISCOVERV1`,
  ]) {
    t.is((await fetch(gateway.url + path)).status, 200, path);
  }
  const twice = await fetch(`${gateway.url}/autodiscover/autodiscover.json?Email=${ANNA}&email=b@c`);
  t.deepEqual(((await twice.json()) as { errors: object }).errors, { Email: ['must be given once'] });
  // Every other path must match exactly, also in case.
  t.is((await fetch(`${gateway.url}/Mail/config-v1.1.xml?emailaddress=${ANNA}`)).status, 404);
  t.is((await fetch(`${gateway.url}/API/config`)).status, 404);
});

test('an address is told the same whether or not there is such an account, and its domain decides', async (t) => {
  const { port, url } = await startGateway(t, { advertised: { connectionInfo: SERVERS } });
  for (const address of ['nobody@example.test', 'anna+tag@example.test', 'Anna@EXAMPLE.test', 'ännä@example.test']) {
    const file = await fetch(`${url}/mail/config-v1.1.xml?emailaddress=${encodeURIComponent(address)}`);
    t.is(await file.text(), CLIENT_CONFIG, address);
    t.is((await sendRecorded(port, 'outlook-autodiscover', { [ANNA]: address })).body, settings(address));
  }
  const elsewhere = [
    'anna@elsewhere.test',
    'anna@sub.example.test',
    'example.test',
    '',
    'anna@',
    '@example.test',
    'a@b@c',
  ];
  for (const address of elsewhere) {
    const query = encodeURIComponent(address);
    t.is((await fetch(`${url}/mail/config-v1.1.xml?emailaddress=${query}`)).status, 404, address);
    const json = await fetch(`${url}/autodiscover/autodiscover.json?Email=${query}&Protocol=AutodiscoverV1`);
    t.is(json.status, 404, address);
    const fault = faultOf(await sendRecorded(port, 'outlook-autodiscover', { [ANNA]: address }));
    t.is(fault, /^anna@(elsewhere|sub)/.test(address) ? '500' : '600', address);
  }
});

test('without an address the host decides', async (t) => {
  const { port } = await startGateway(t);
  const statusAt = async (host: string) =>
    (await sendRecorded(port, 'thunderbird-without-address', { 'autoconfig.example.test': host })).status;
  for (const host of [
    'example.test',
    'autoconfig.example.test:8080',
    'AutoConfig.Example.TEST',
    'autoconfig.example.test.',
  ])
    t.is(await statusAt(host), 200, host);
  for (const host of ['mail.example.test', 'autoconfig.elsewhere.test', '127.0.0.1:80', '[::1]:80', 'autoconfig.'])
    t.is(await statusAt(host), 404, host);
});

test('only what runs is told, and nothing when a program could not both read and send', async (t) => {
  const some = await startGateway(t, {
    advertised: { connectionInfo: { smtp: { ...SUBMISSION, securePort: 0 }, imap: OFF, pop3: { ...IMAP, port: 0 } } },
  });
  const file = (await sendRecorded(some.port, 'thunderbird-autoconfig')).body;
  t.deepEqual(
    [...file.matchAll(/Server type="(\w+)">\s*<hostname>[^<]*<\/hostname>\s*<port>(\d+)</g)].map(
      ([, ...found]) => found,
    ),
    [
      ['pop3', '993'],
      ['smtp', '587'],
    ],
  );
  const { body } = await sendRecorded(some.port, 'outlook-autodiscover');
  t.deepEqual(
    Array.from(body.matchAll(/<Type>(\w+)<|<Encryption>(\w+)</g), ([, type, tls]) => type ?? tls),
    [...['POP3', 'SSL'], ...['SMTP', 'TLS']],
  );
  for (const connectionInfo of [
    { smtp: OFF, imap: IMAP, pop3: IMAP },
    { smtp: SUBMISSION, imap: OFF, pop3: OFF },
  ]) {
    const { port, fetch } = await startGateway(t, { advertised: { connectionInfo } });
    t.is((await sendRecorded(port, 'thunderbird-autoconfig')).status, 404);
    t.is(faultOf(await sendRecorded(port, 'outlook-autodiscover')), '601');
    t.is((await fetch('/api/smtp-credentials/mobileconfig')).status, 404);
    t.is((await fetch('/api/smtp-credentials/mobileconfig', { method: 'POST', json: {} })).status, 404);
  }
});

test('a server that is known by its IPv6 address is told without brackets', async (t) => {
  const connectionInfo = { ...SERVERS, imap: { ...IMAP, serverName: '[2001:db8::1]' } };
  const { port } = await startGateway(t, { advertised: { connectionInfo } });
  t.regex((await sendRecorded(port, 'thunderbird-autoconfig')).body, /<hostname>2001:db8::1<\/hostname>/);
});

test('while the store is away programs are asked to come again', async (t) => {
  const gateway = await startGateway(t);
  gateway.directory.down = true;
  for (const name of ['thunderbird-autoconfig', 'outlook-json', 'outlook-autodiscover']) {
    const { status, headers } = await sendRecorded(gateway.port, name);
    t.deepEqual([status, headers.get('retry-after')], [503, '2'], name);
  }
  t.is((await gateway.fetch(`/mail/config-v1.1.xml?emailaddress=${ANNA}`, { key: null })).status, 503);
});

test('hostile XML is no request, and its reply is short', async (t) => {
  const gateway = await startGateway(t);
  const post = async (body: string | Buffer, type = 'text/xml') => {
    const headers = { 'content-type': type };
    const response = await gateway.fetch('/autodiscover/autodiscover.xml', {
      method: 'POST',
      key: null,
      body,
      headers,
    });
    return { status: response.status, body: await response.text() };
  };
  const schema = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a';
  const request = (email: string, before = '') =>
    `${before}<Autodiscover xmlns="x"><Request><EMailAddress>${email}</EMailAddress><AcceptableResponseSchema>${schema}</AcceptableResponseSchema></Request></Autodiscover>`;
  t.regex((await post(`\ufeff${request(ANNA)}`)).body, /<LoginName>anna@example\.test</);
  t.regex((await post(request(ANNA), 'application/xml; charset=UTF-8')).body, /<LoginName>anna@example\.test</);
  t.regex((await post(request('a&#38;b@example.test'))).body, /<LoginName>a&amp;b@example\.test</);
  const hostile = [
    '',
    '{}',
    'x'.repeat(16_000),
    '<'.repeat(16_000),
    '<Autodiscover'.repeat(1_200),
    `<Autodiscover ${'<EMailAddress '.repeat(1_100)}`,
    `<Autodiscover>${'<a:'.repeat(5_000)}`,
    request(ANNA, '<!DOCTYPE Autodiscover [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
    request('&a;', '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "anna@example.test">]>'),
    request('&a;@example.test;'),
    request('<![CDATA[anna@example.test]]>'),
    request('<b>anna@example.test</b>'),
    request('anna&#13;&#10;@example.test'),
    request('anna@example.test\r\nX-Evil: 1'),
    request('&lt;script&gt;@example.test'),
    request(''),
    Buffer.from(request(ANNA), 'utf16le'),
  ];
  for (const body of hostile) {
    const reply = await post(body);
    t.is(reply.status, 200);
    t.regex(reply.body, /<ErrorCode>600</, body.toString().slice(0, 60));
    t.true(reply.body.length < 600);
    t.notRegex(reply.body, /anna|script|passwd/);
  }
  t.is((await post(`<Autodiscover>${'x'.repeat(16 * 1024)}`)).status, 413);
  for (const type of ['application/json', 'text/plain', '', 'text/xml+evil'])
    t.is((await post(request(ANNA), type)).status, 415);
  const headers = { 'content-type': 'text/xml', 'content-encoding': 'gzip' };
  t.is((await gateway.fetch('/autodiscover/autodiscover.xml', { method: 'POST', body: 'x', headers })).status, 415);
});
