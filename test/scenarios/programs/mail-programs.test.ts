// Tests how mail programs configure themselves: requests of Thunderbird and Outlook are answered with servers that are open, the profile
// for Apple Mail logs in with its key, and a program that reads the documents in the same way sends and reads mail.

import { createAccount, port, storeOf, type TestAccount } from '../../../dev/node-accounts.js';
import { sendRecorded } from '../../support/clients/mail-program-requests.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { mansio } from '../../support/command.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { runProgram } from '../../support/run-program.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { eventually } from '../cluster/support/eventually.js';

let node: TestNode;
let anna: TestAccount;

test.before(async () => {
  node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_HOSTNAME: 'localhost',
    MANSIO_PUBLIC_POP3S: 'localhost:995',
    MANSIO_PUBLIC_URL: 'https://app.example.test',
  });
  const sql = await storeOf(node);
  anna = await createAccount(sql, 'anna@example.test', ['app']);
  await sql.end();
});

test.after.always(async (t) => {
  const exit = await node?.stop();
  t.is(exit?.code, 0);
});

const http = () => port(node, 'http');

interface Servers {
  /** `[type, host, port, how TLS begins]`, as in the document. */
  readonly incoming: readonly (readonly [string, string, number, string])[];
  readonly outgoing: Servers['incoming'];
}

/** Reads the servers of a document with an XML parser, as Thunderbird does (readFromXML, readAutoDiscoverXML). */
const READ_DOCUMENT = `
import json, sys
import xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
space = "{http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a}"
server = lambda each, kind, host, port, tls: [kind, each.findtext(host), int(each.findtext(port)), each.findtext(tls)]
if root.tag == "clientConfig":
    assert root.get("version") == "1.1"
    provider = root.find("emailProvider")
    assert provider.get("id") == provider.findtext("domain") == "example.test"
    of = lambda name: [server(each, each.get("type"), "hostname", "port", "socketType") for each in provider.findall(name)]
    result = {"incoming": of("incomingServer"), "outgoing": of("outgoingServer")}
else:
    account = root.find(space + "Response").find(space + "Account")
    assert account.findtext(space + "Action") == "settings"
    names = [space + name for name in ("Server", "Port", "Encryption")]
    every = [server(each, each.findtext(space + "Type").lower(), *names) for each in account.findall(space + "Protocol")]
    result = {"incoming": [each for each in every if each[0] != "smtp"], "outgoing": [each for each in every if each[0] == "smtp"]}
print(json.dumps(result))
`;

async function serversIn(document: string): Promise<Servers> {
  const { code, output } = await runProgram('python3', ['-c', READ_DOCUMENT], document);
  if (code !== 0) throw new Error(output);
  return JSON.parse(output) as Servers;
}

for (const name of ['thunderbird-autoconfig', 'thunderbird-well-known', 'thunderbird-without-address']) {
  testWith('python3')(`${name}: the ports that are open`, async (t) => {
    const { status, body } = await sendRecorded(http(), name);
    t.is(status, 200);
    t.deepEqual(await serversIn(body), {
      incoming: [
        ['imap', 'localhost', port(node, 'imaps'), 'SSL'],
        ['imap', 'localhost', port(node, 'imap'), 'STARTTLS'],
        ['pop3', 'localhost', 995, 'SSL'],
        ...(node.ready.listeners['pop3'] === undefined
          ? []
          : [['pop3', 'localhost', port(node, 'pop3'), 'STARTTLS'] as const]),
      ],
      outgoing: [
        ['smtp', 'localhost', port(node, 'submissions'), 'SSL'],
        ['smtp', 'localhost', port(node, 'submission'), 'STARTTLS'],
      ],
    });
  });
}

for (const name of ['thunderbird-autodiscover', 'outlook-autodiscover', 'outlook-2007-autodiscover']) {
  testWith('python3')(`${name}: a server of each protocol`, async (t) => {
    const { status, body } = await sendRecorded(http(), name);
    t.is(status, 200);
    t.deepEqual(await serversIn(body), {
      incoming: [
        ['imap', 'localhost', port(node, 'imaps'), 'SSL'],
        ['pop3', 'localhost', 995, 'SSL'],
      ],
      outgoing: [['smtp', 'localhost', port(node, 'submissions'), 'SSL']],
    });
  });
}

for (const name of ['outlook-json', 'outlook-json-in-path']) {
  test(`${name}: where the XML is`, async (t) => {
    const { status, body } = await sendRecorded(http(), name);
    t.is(status, 200);
    t.deepEqual(JSON.parse(body), {
      Protocol: 'AutodiscoverV1',
      Url: 'https://app.example.test/autodiscover/autodiscover.xml',
    });
  });
}

test('a domain that is not hosted, and one that is hosted from now on', async (t) => {
  const elsewhere = { 'example.test': 'later.test' };
  t.is((await sendRecorded(http(), 'thunderbird-autoconfig', elsewhere)).status, 404);
  t.regex((await sendRecorded(http(), 'outlook-autodiscover', elsewhere)).body, /<ErrorCode>500</);
  const { code, stdout, stderr } = await mansio(node.dataDir, ['domain', 'add', 'later.test', '--json']);
  t.is(code, 0, stderr);
  const { records } = JSON.parse(stdout) as { records: readonly { name: string; value: readonly string[] }[] };
  const rdata = (name: string) => records.find((record) => record.name === name)?.value;
  // The node has registered this value; the command has no such settings.
  t.deepEqual(rdata('autoconfig.later.test'), ['app.example.test.']);
  await eventually(
    'the domain to be hosted',
    async () => (await sendRecorded(http(), 'thunderbird-autoconfig', elsewhere)).status === 200,
  );
});

/** Logs in at the servers of a profile with its key, sends a message to itself by SMTP and finds it by IMAP. */
const USE_PROFILE = `
import imaplib, plistlib, smtplib, ssl, sys, time
profile = plistlib.loads(sys.stdin.buffer.read())
assert profile["PayloadType"] == "Configuration" and profile["PayloadVersion"] == 1
[account] = profile["PayloadContent"]
assert account["PayloadType"] == "com.apple.mail.managed" and account["EmailAccountType"] == "EmailTypeIMAP"
assert account["IncomingMailServerUseSSL"] is True and account["OutgoingMailServerUseSSL"] is True
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
user, key, own = account["IncomingMailServerUsername"], account["IncomingPassword"], account["EmailAddress"]
with smtplib.SMTP_SSL(account["OutgoingMailServerHostName"], account["OutgoingMailServerPortNumber"], context=context) as smtp:
    smtp.login(account["OutgoingMailServerUsername"], key)
    smtp.sendmail(own, [own], "From: %s\\r\\nTo: %s\\r\\nSubject: set up\\r\\n\\r\\nhello\\r\\n" % (own, own))
imap = imaplib.IMAP4_SSL(account["IncomingMailServerHostName"], account["IncomingMailServerPortNumber"], ssl_context=context)
imap.login(user, key)
deadline = time.monotonic() + 60
while True:
    imap.select("INBOX")
    if imap.search(None, "SUBJECT", '"set up"')[1][0]: break
    assert time.monotonic() < deadline
    time.sleep(0.1)
imap.logout()
print(profile["PayloadIdentifier"], profile["PayloadUUID"], account["PayloadUUID"])
`;

testWith('python3')('a profile for Apple Mail sets a device up, with a key of its own', async (t) => {
  const client = new MailboxClient(node, anna.key);
  const path = '/api/smtp-credentials/mobileconfig';
  const made = await client.request('POST', path, { name: 'iPhone', deviceId: 'phone' });
  t.is(made.status, 201);
  t.is(made.headers.get('content-type'), 'application/x-apple-aspen-config; charset=utf-8');
  t.is(made.headers.get('cache-control'), 'no-store');
  const { code, output } = await runProgram('python3', ['-c', USE_PROFILE], await made.text());
  t.is(code, 0, output);
  t.regex(output, /^test\.example\.mail\.[0-9a-f-]{36} ([0-9A-F-]{36}) (?!\1)[0-9A-F-]{36}\n$/);
  const bare = await (await client.request('GET', path)).text();
  t.true(
    output
      .trim()
      .split(' ')
      .every((identifier) => bare.includes(identifier)),
  );
  t.notRegex(bare, /<key>IncomingPassword/);
  const { keys } = await client.get<{ keys: readonly { name: string; scopes: readonly string[] }[] }>(
    '/api/smtp-credentials',
  );
  t.deepEqual(
    keys.filter(({ name }) => name === 'iPhone').map(({ scopes }) => [...scopes].sort()),
    [['imap', 'smtp']],
  );
  t.is((await fetch(`http://127.0.0.1:${http()}${path}`)).status, 401);
});
