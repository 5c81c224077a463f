// Unknown addresses of a whole node: postmaster and abuse are always accepted, whatever becomes of others.
import test from 'ava';
import { createAccount, MailboxClient, port, storeOf } from '../support/mailbox-client.js';
import { startTestNode } from '../support/node.js';
import { SmtpClient } from '../support/smtp-client.js';

const MESSAGE = 'From: a@remote.test\r\nSubject: report\r\n\r\nhello';

for (const mode of ['hold', 'reject'] as const) {
  test(`postmaster and abuse of a hosted domain are accepted with ${mode}, when no other unknown address is`, async (t) => {
    const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_UNKNOWN_RECIPIENTS: mode });
    const sql = await storeOf(node);
    // As many held addresses as a domain may have.
    await sql`insert into accounts (id, shard, email, display_name, held) values (${FULL}, 0, 'u0@example.test', '', true)`;
    await sql`
      insert into addresses (id, address, account_id, domain, held, verified)
      select gen_random_uuid(), 'u' || n || '@example.test', ${FULL}, 'example.test', true, true
      from generate_series(0, 999) n`;
    const client = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
    await client.command('MAIL FROM:<a@remote.test>');
    const rcpt = async (address: string) => (await client.command(`RCPT TO:<${address}>`)).code;
    t.is(await rcpt('nobody@example.test'), mode === 'hold' ? 450 : 550);
    t.is(await rcpt('Postmaster@Example.test'), 250);
    t.is(await rcpt('abuse+x@example.test'), 250);
    t.is(await rcpt('postmaster@elsewhere.test'), 550);
    await client.command('DATA');
    t.is((await client.command(`${MESSAGE}\r\n.`)).code, 250);
    // The mailbox is there now; RFC 5321 §4.5.1: postmaster alone too.
    t.is((await client.send('b@remote.test', ['abuse@example.test', 'postmaster'], MESSAGE)).code, 250);
    for (const name of ['postmaster', 'abuse']) {
      const { key } = await createAccount(sql, `${name}@example.test`);
      const emails = await new MailboxClient(node, key).inbox();
      t.deepEqual(
        emails.map(({ subject }) => subject),
        ['report', 'report'],
        name,
      );
    }
    await sql.end();
    t.is((await node.stop()).code, 0);
  });
}

const FULL = '00000000-0000-4000-8000-000000000001';
