// Tests feedback reports on a whole node: a report that a large sender mails is shown by `mansio reports`, each once; forged ones are not.
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { google, googleTls, gzipped, microsoft, reportMail } from '../../message-checks/feedback/samples.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { PROGRAM, startTestNode } from '../../support/node.js';
import { runProgram } from '../../support/run-program.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

const YESTERDAY = Math.floor(Date.now() / 86_400_000 - 1) * 86_400;

test('reports that arrive at the address of the records are shown as sums', async (t) => {
  const dns = await startDnsServer({
    'google.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    '_dmarc.google.test': { TXT: ['v=DMARC1; p=reject'] },
    '_dmarc.example.test': { TXT: ['v=DMARC1; p=none; rua=mailto:dmarc@example.test'] },
  });
  t.teardown(() => dns.close());
  const metricsPort = await freePort();
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_METRICS_PORT: String(metricsPort),
  });
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  for (const name of ['postmaster', 'dmarc', 'anna']) await createAccount(sql, `${name}@example.test`);
  const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const send = async (to: string, subject: string, attachment: Buffer, from = 'noreply@google.test') => {
    const [type, name] = ['application/gzip', `google.test!example.test!${YESTERDAY}!${YESTERDAY + 86_399}.xml.gz`];
    const { code } = await client.send(from, [to], reportMail({ from, to, subject, type, name }, attachment));
    t.is(code, 250, subject);
  };
  await send('dmarc@example.test', 'one', gzipped(google(YESTERDAY)));
  await send('postmaster@example.test', 'the same again', gzipped(google(YESTERDAY)));
  await send('dmarc@example.test', 'forged', gzipped(microsoft(YESTERDAY)), 'noreply@forger.test');
  await send('anna@example.test', 'to nobody who asked', gzipped(microsoft(YESTERDAY)));
  await send('postmaster@example.test', 'a bomb', gzipped('0'.repeat(40_000_000)));
  await send(
    'postmaster@example.test',
    'about another domain',
    gzipped(google(YESTERDAY).replace(/example\.test/, 'x.test')),
  );
  await send('postmaster@example.test', 'an old one', gzipped(google(YESTERDAY - 40 * 86_400)));
  await send('postmaster@example.test', 'TLS', gzipped(googleTls(YESTERDAY)));
  await placed(node);
  await until(async () => (await sql`select from due_reports`).count === 0);

  const mansio = (...args: string[]) => runProgram(process.execPath, [PROGRAM, 'reports', ...args], '', node.env);
  const of = { domain: 'example.test', reporters: ['google.test'] };
  const json = await mansio('--json', '--domain', 'example.test', '--days', '3');
  t.is(json.code, 0, json.output);
  t.deepEqual(JSON.parse(json.output), {
    dmarc: [
      {
        ...of,
        source: '192.0.2.10',
        messages: 40,
        spfPass: 40,
        dkimPass: 40,
        dmarcPass: 40,
        quarantined: 0,
        rejected: 0,
      },
      {
        ...of,
        source: '2001:db8::19',
        messages: 2,
        spfPass: 0,
        dkimPass: 2,
        dmarcPass: 2,
        quarantined: 0,
        rejected: 0,
      },
    ],
    tls: [
      { ...of, policyType: 'sts', host: '', result: 'success', sessions: 31 },
      { ...of, policyType: 'sts', host: 'mx.example.test', result: 'certificate-expired', sessions: 3 },
      { ...of, policyType: 'sts', host: '', result: 'unspecified', sessions: 2 },
    ],
  });
  const { output } = await mansio();
  t.regex(output, /^example\.test +192\.0\.2\.10 +40 +40 +40 +0 +0 +0 +google\.test$/m);
  t.regex(output, /^example\.test +sts +mx\.example\.test +certificate-expired +3 +google\.test$/m);
  for (const [args, refusal] of [
    [['--domain', 'other.test'], /not a hosted domain: other\.test/],
    [['--days', '0'], /whole number from 1 to 400/],
  ] as const) {
    const refused = await mansio(...args);
    t.is(refused.code, 1);
    t.regex(refused.output, refusal);
  }
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  for (const line of [
    'feedback_reports_total{kind="dmarc",outcome="counted"} 1',
    'feedback_reports_total{kind="dmarc",outcome="repeated"} 1',
    'feedback_reports_total{kind="dmarc",outcome="misdirected"} 1',
    'feedback_reports_total{kind="dmarc",outcome="unhosted"} 1',
    'feedback_reports_total{kind="dmarc",outcome="too_old"} 1',
    'feedback_reports_total{kind="unknown",outcome="malformed"} 1',
    'feedback_reports_total{kind="tls",outcome="counted"} 1',
    'feedback_messages_total{result="pass"} 42',
    'feedback_tls_sessions_total{result="failure"} 5',
  ])
    t.true(metrics.includes(`mansio_${line}\n`), line);
  t.is((await node.stop()).code, 0);
});

test('the results of DMARC and TLS are mailed to the domain that asks for them, once, and its node reads them', async (t) => {
  const local = 'v=spf1 ip4:127.0.0.1 -all';
  const dns = await startDnsServer({
    'peer.test': { TXT: [local], MX: [[10, 'mx.peer.test']] },
    '_dmarc.peer.test': { TXT: ['v=DMARC1; p=quarantine; rua=mailto:postmaster@peer.test!1m'] },
    '_smtp._tls.peer.test': { TXT: ['v=TLSRPTv1; rua=mailto:postmaster@peer.test'] },
    'mx.peer.test': { A: ['127.0.0.1'] },
    'mx.example.test': { A: ['127.0.0.1'], TXT: [local] },
    'forger.test': { TXT: [local] },
  });
  t.teardown(() => dns.close());
  const peer = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'peer.test', MANSIO_OUTBOUND_DNS: dns.address });
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_HOSTNAME: 'mx.example.test',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(port(peer, 'mx')),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_REPORTS: 'on',
  });
  const [sql, peerSql] = [await storeOf(node), await storeOf(peer)];
  t.teardown(() => Promise.all([sql.end(), peerSql.end()]));
  const { key } = await createAccount(sql, 'postmaster@example.test');
  await createAccount(peerSql, 'postmaster@peer.test');
  const recipients = [{ address: 'postmaster@peer.test', type: 'To' }];
  const mail = { fromAddress: 'postmaster@example.test', subject: 'hi', textBody: 'hello', recipients };
  t.is((await new MailboxClient(node, key).request('POST', '/api/outbound/send', mail)).status, 200);
  const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
  const send = async (sender: string) => {
    const message = 'From: a@peer.test\r\nSubject: hi\r\n\r\nhello';
    t.is((await client.send(sender, ['postmaster@example.test'], message)).code, 250);
  };
  for (const sender of ['a@peer.test', 'b@forger.test', 'a@peer.test']) await send(sender);
  const counted = () => sql<{ messages: number }[]>`select messages::int from dmarc_counts order by messages`;
  await until(async () => (await counted()).map(({ messages }) => messages).join() === '1,2');
  await until(async () => (await sql`select from tls_counts`).count === 1);
  // The days go by. The node takes what is over at any moment.
  const counts = await sql`update dmarc_counts set day = day - 2 returning *`;
  await sql`update tls_counts set day = day - 2`;
  await until(async () => (await peerSql`select from dmarc_sums`).count === 2);
  await until(async () => (await peerSql`select from tls_sums`).count === 1);

  const { code, output } = await runProgram(process.execPath, [PROGRAM, 'reports', '--json'], '', peer.env);
  t.is(code, 0, output);
  const of = { domain: 'peer.test', source: '127.0.0.1', reporters: ['example.test'] };
  t.deepEqual(JSON.parse(output), {
    dmarc: [{ ...of, messages: 3, spfPass: 2, dkimPass: 0, dmarcPass: 2, quarantined: 1, rejected: 0 }],
    tls: [
      {
        domain: 'peer.test',
        policyType: 'no-policy-found',
        host: '',
        result: 'success',
        sessions: 1,
        reporters: ['example.test'],
      },
    ],
  });
  await until(async () => (await sql`select from sent_reports`).count === 1);
  // The node died between the sending and its note.
  await sql`delete from sent_reports`;
  await sql`insert into dmarc_counts ${sql(counts)}`;
  await until(async () => (await sql`select from sent_reports`).count === 1);
  t.is((await sql`select from dmarc_counts`).count, 0);
  const queued = await sql`select subject, count(*)::int as times from outbound group by 1 having count(*) > 1`;
  t.deepEqual([...queued], [], 'each report is queued once');
  t.is((await node.stop()).code, 0);
  t.is((await peer.stop()).code, 0);
});
