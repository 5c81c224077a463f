// Tests a full disk under a real node: health reports it, mail is refused temporarily, and all continues when there is room. A start
// without room says so and leaves no lock. The disk is a small one in memory, which only root can mount.
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { defaultSigningKey } from '../../support/default-signing-key.js';
import { NodeNotReady, startTestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { eventually } from '../cluster/support/eventually.js';

const probe = temporaryDirectory('mansio-mount-');
const canMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', probe]).status === 0;
if (canMount) spawnSync('umount', [probe]);
/** Without the right to mount, the test is skipped. */
const withSmallDisk = canMount ? test : test.skip;

function smallDisk(t: ExecutionContext): string {
  const path = temporaryDirectory('mansio-small-disk-');
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=711', 'none', path]);
  if (status !== 0) throw new Error(String(stderr));
  chmodSync(path, 0o711);
  t.teardown(() => void spawnSync('umount', ['-l', path]));
  return path;
}

/** Fills the disk to the last page. */
function fill(path: string): void {
  const file = openSync(join(path, 'ballast'), 'w');
  for (let octets = 1 << 20; octets >= 512; octets >>= 1) {
    try {
      for (;;) if (writeSync(file, Buffer.alloc(octets)) < octets) break;
    } catch {}
  }
  closeSync(file);
}

withSmallDisk(
  'a full disk is told by health, refuses mail for the moment and is forgotten when there is room',
  async (t) => {
    t.timeout(600_000);
    const dataDir = smallDisk(t);
    const node = await startTestNode({
      MANSIO_DATA_DIR: dataDir,
      MANSIO_HOSTED_DOMAINS: 'example.test',
      ...defaultSigningKey().settings,
    });
    t.teardown(async () => void (node.running && (await node.stop())));
    const sql = await storeOf(node);
    const anna = await createAccount(sql, 'anna@example.test');
    await sql.end();
    const client = new MailboxClient(node, anna.key);
    const health = async () => {
      const response = await fetch(`http://127.0.0.1:${port(node, 'http')}/healthz`);
      return ((await response.json()) as { status: string }).status;
    };
    const send = async (octets: number) => {
      const smtp = await SmtpClient.greeted(`127.0.0.1:${port(node, 'mx')}`);
      await smtp.command('MAIL FROM:<a@peer.test>');
      const { code } = await smtp.command('RCPT TO:<anna@example.test>');
      if (code !== 250) return code;
      await smtp.command('DATA');
      smtp.write(`Subject: x\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(octets / 72)}.\r\n`);
      return (await smtp.reply()).code;
    };
    t.is(await health(), 'Healthy');
    t.is(await send(1_000), 250);

    fill(dataDir);
    await eventually('health to tell', async () => (await health()) !== 'Healthy');
    const code = await send(200_000);
    t.true(code >= 400 && code < 500, `${code}`);

    rmSync(join(dataDir, 'ballast'));
    await eventually('mail to be taken again', async () => (await send(200_000)) === 250);
    await eventually('health to be good again', async () => (await health()) === 'Healthy');
    await eventually('what was accepted', async () => (await client.inbox()).length >= 2);
  },
);

withSmallDisk(
  'a start on a full disk is one sentence and leaves no lock, with and without a database there',
  async (t) => {
    t.timeout(600_000);
    const dataDir = smallDisk(t);
    const refused = async () => {
      fill(dataDir);
      const error = await t.throwsAsync(startTestNode({ MANSIO_DATA_DIR: dataDir }), { instanceOf: NodeNotReady });
      const fatal = error!.logs.map((line) => JSON.parse(line)).filter(({ level }) => level === 'fatal');
      t.is(fatal.length, 1, error?.message);
      t.regex(fatal[0].msg, /^Mansio cannot start: no space is left on the disk: free some/);
      t.false(fatal[0].msg.includes('\n'));
      t.is(fatal[0].err, undefined);
      t.deepEqual(
        readdirSync(dataDir).filter((name) => name.includes('lock')),
        [],
      );
      rmSync(join(dataDir, 'ballast'));
    };
    await refused();
    const first = await startTestNode({ MANSIO_DATA_DIR: dataDir });
    t.is((await first.stop()).code, 0);
    await refused();
    const second = await startTestNode({ MANSIO_DATA_DIR: dataDir });
    t.is((await second.stop()).code, 0);
  },
);
