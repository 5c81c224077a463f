// Kills an import repeatedly while mail arrives, and the node too: each message is there once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SmtpSender } from '../../../bench/support/smtp-load.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { amount, KILLS } from '../../support/amounts.js';
import { mansio } from '../../support/command.js';
import { bareEnvironment, PROGRAM, startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const COUNT = amount(2_000, 10_000);
const ACCOUNT = 'zoe@example.test';

function mbox(count: number): string {
  const file = join(temporaryDirectory('mansio-import-'), 'mbox');
  const out = openSync(file, 'w');
  for (let i = 0; i < count; i++) {
    writeSync(
      out,
      `From a@b.test Sat Feb  3 04:05:06 2001\nSubject: imported ${i}\nMessage-ID: <${i}@b.test>\n\n${'x'.repeat(500)}\n\n`,
    );
  }
  closeSync(out);
  return file;
}

test('an import of many messages is killed again and again, a node once, and each message is there once', async (t) => {
  t.timeout(600_000);
  const settings = {
    MANSIO_DATA_DIR: temporaryDirectory('mansio-import-node-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_LOG_LEVEL: 'warn',
  };
  let node = await startTestNode(settings);
  t.teardown(() => node.stop());
  let sql = await storeOf(node);
  const { id } = await createAccount(sql, ACCOUNT);
  const args = ['import', '--account', ACCOUNT, '--mbox', mbox(COUNT), '--folder', 'Zoë 💌/Alt', '--json'];
  const taken = async () => {
    const [row] = await sql`
      select (select count(*)::int from emails where account_id = ${id} and subject like 'imported %')
        + (select count(*)::int from inbound where account_id = ${id} and import_number is not null) as count`;
    return row!['count'] as number;
  };
  let delivered = 0;
  for (let kill = 1; kill <= KILLS.imports; kill++) {
    const before = await taken();
    const env = { ...bareEnvironment(), ...settings };
    const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    const sender = await SmtpSender.open('127.0.0.1', port(node, 'mx'));
    // The kill comes within a batch, later each time.
    const until = Math.min(
      before + 1 + ((kill * 7_919) % Math.ceil(COUNT / KILLS.imports)),
      COUNT - KILLS.imports + kill,
    );
    while ((await taken()) < until && child.exitCode === null) {
      if (await sender.send('a@remote.test', [ACCOUNT], `Subject: live ${delivered}\r\n\r\nx\r\n.\r\n`)) delivered++;
    }
    sender.close();
    child.kill('SIGKILL');
    await ended;
    if (kill !== Math.ceil(KILLS.imports / 2)) continue;
    await sql.end();
    await node.kill('SIGKILL');
    node = await startTestNode(settings);
    sql = await storeOf(node);
  }
  t.true(delivered > 0);
  // Two imports at the same time give the same result.
  const [first, second] = await Promise.all([mansio(node.dataDir, args), mansio(node.dataDir, args)]);
  for (const { code, stdout, stderr } of [first, second]) {
    t.is(code, 0, stderr);
    const { imported, skipped, failed, waiting } = JSON.parse(stdout);
    t.deepEqual([imported + skipped, failed, waiting], [COUNT, 0, undefined]);
  }
  const [imported] = await sql`
    select count(*)::int as count, count(distinct subject)::int as subjects from emails e
      join placements p on p.account_id = e.account_id and p.email_id = e.id
      join folders f on f.account_id = p.account_id and f.id = p.folder_id
    where e.account_id = ${id} and subject like 'imported %' and f.name = 'Zoë 💌/Alt'`;
  t.deepEqual({ ...imported }, { count: COUNT, subjects: COUNT });
  await eventually(
    'all mail to be placed',
    async () => (await sql`select 1 from inbound where account_id = ${id}`).length === 0,
  );
  const [live] = await sql`
    select count(*)::int as count, count(distinct subject)::int as subjects from emails
    where account_id = ${id} and subject like 'live %'`;
  t.deepEqual([live!['count'], live!['subjects']], [delivered, delivered]);
  await sql.end();
});
