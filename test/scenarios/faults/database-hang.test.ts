// Tests a database that hangs: its processes are stopped (SIGSTOP), so connections stay open without answers. Clients soon get the
// temporary error of their protocol, and everything continues when the database does. A statement that the database received meanwhile
// runs then, though its connection is closed; its deadline has passed, and nothing that was refused is stored.

import { setTimeout as delay } from 'node:timers/promises';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { hangDatabase } from '../../support/database/hung-database.js';
import { preparedDirectory } from '../../support/database/prepared-cluster.js';
import { startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

/** Connections wait 10 to 15 s; a machine with nothing else to do needs 5 s. */
const SOON_MS = 8_000;

const message = (subject: string, octets = 10) =>
  `Subject: ${subject}\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(Math.ceil(octets / 72))}.\r\n`;

test('while the database hangs, REST says 503 and SMTP 451 soon; nothing refused is stored later, and all goes on', async (t) => {
  t.timeout(600_000);
  const node = await startTestNode({
    MANSIO_DATA_DIR: await preparedDirectory('mansio-hang-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
  });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const anna = await createAccount(sql, 'anna@example.test');
  const client = new MailboxClient(node, anna.key);
  const mx = `127.0.0.1:${port(node, 'mx')}`;
  const begun = async () => {
    const smtp = await SmtpClient.greeted(mx);
    await smtp.command('MAIL FROM:<a@peer.test>');
    await smtp.command('RCPT TO:<anna@example.test>');
    await smtp.command('DATA');
    return smtp;
  };
  const before = await begun();
  before.write(message('before'));
  t.is((await before.reply()).code, 250);
  await eventually('the first message to be listed', async () => (await client.inbox()).length === 1);
  const sessions = await Promise.all([begun(), begun(), begun()]);

  // The connection of the health check is not stopped, and that of maintenance may be idle all the time.
  const writing = sql`
    select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
      and application_name like 'mansio %' and application_name not like '% health' and application_name not like '% maintenance'`;
  const pids = (await writing).map(({ pid }) => pid as number);
  t.true(pids.length > 3);
  const goOn = hangDatabase(t, node);
  const began = performance.now();
  const took: Record<string, number> = {};
  const timed = async (what: string, work: Promise<string>) => {
    const outcome = await work;
    took[what] = Math.round(performance.now() - began);
    return outcome;
  };
  const status = async (method: string, path: string, body?: unknown) => {
    const response = await client.request(method, path, body);
    await response.arrayBuffer();
    return `${response.status}`;
  };
  const code = async (smtp: SmtpClient, text: string) => {
    smtp.write(text);
    return `${(await smtp.reply()).code}`;
  };
  // What needs no database is as late as the machine makes everything.
  let [lateMs, isOver] = [0, false];
  const control = (async () => {
    while (!isOver) {
      const asked = performance.now();
      await (await fetch(`http://127.0.0.1:${port(node, 'http')}/`)).arrayBuffer();
      lateMs += performance.now() - asked;
      await delay(50);
    }
  })();
  const outcomes = await Promise.all([
    ...Array.from({ length: 40 }, (_, i) => timed(`list ${i}`, status('GET', '/api/emails'))),
    timed('profile', status('GET', '/api/profile')),
    timed('label', status('POST', '/api/labels', { name: 'x', color: '#123456', sortOrder: 1 })),
    timed('small', code(sessions[0]!, message('refused'))),
    timed('medium', code(sessions[1]!, message('refused too', 100_000))),
    timed('large', code(sessions[2]!, message('refused as well', 1_000_000))),
  ]);
  isOver = true;
  await control;
  // A cached page is served until the leases expire.
  for (const outcome of outcomes.slice(0, 40)) t.true(['200', '503'].includes(outcome), outcome);
  t.deepEqual(outcomes.slice(40, -3), ['503', '503']);
  t.deepEqual(outcomes.slice(-3), ['451', '451', '451']);
  t.log(took, lateMs);
  for (const [what, ms] of Object.entries(took)) t.true(ms < SOON_MS + lateMs, `${what} took ${ms} ms`);
  // After that, every request is refused at once.
  await eventually('the leases to run out', async () => (await status('GET', '/api/emails')) === '503');
  t.is((await fetch(`http://127.0.0.1:${port(node, 'http')}/healthz`)).status, 503);

  goOn();
  await eventually('the list', async () => (await status('GET', '/api/emails')) === '200');
  // The connections that hung are replaced one by one, and what is refused meanwhile is not stored.
  await eventually('mail to be taken again', async () => (await code(await begun(), message('after'))) === '250');
  const listed = async () => (await client.inbox()).map(({ subject }) => subject);
  await eventually('the last message to be listed', async () => (await listed()).includes('after'));
  await eventually('the database to be done with what it still had', async () => {
    const [left] = await sql`select count(*)::int as count from pg_stat_activity where pid = any(${pids}::int[])`;
    return left!['count'] === 0;
  });
  t.deepEqual(await sql`select from inbound`.then((rows) => rows.length), 0);
  await sql.end();
  t.deepEqual(await listed(), ['after', 'before']);
  t.deepEqual(await (await client.request('GET', '/api/labels')).json(), []);
});
