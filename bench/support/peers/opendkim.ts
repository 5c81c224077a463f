// Starts a separate OpenDKIM milter for benchmarks: key and configuration in a temporary directory, its socket on a free port. It signs
// mail of one domain as Mansio does (RSA of 2,048 bits, relaxed canonicalization of header and body). The result is undefined when OpenDKIM
// is not installed, or this user is not root.
import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../dev/ports.js';
import { listens } from '../listens.js';

const OPENDKIM = '/usr/sbin/opendkim';
const USER = 'opendkim';

export interface Opendkim {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startOpendkim(domain: string): Promise<Opendkim | undefined> {
  if (!existsSync(OPENDKIM) || process.getuid?.() !== 0) return undefined;
  const directory = await mkdtemp(join(tmpdir(), 'mansio-opendkim-'));
  const [key, config] = [join(directory, 'key.pem'), join(directory, 'opendkim.conf')];
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(key, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  const idOf = (flag: string) => Number(spawnSync('id', [flag, USER], { encoding: 'utf8' }).stdout);
  for (const each of [directory, key]) await chown(each, idOf('-u'), idOf('-g'));
  const port = await freePort();
  await writeFile(
    config,
    [
      'Mode s',
      `Domain ${domain}`,
      'Selector bench',
      `KeyFile ${key}`,
      'Canonicalization relaxed/relaxed',
      'OversignHeaders From',
      `Socket inet:${port}@127.0.0.1`,
      `UserID ${USER}`,
      // Every user may write to the temporary directory.
      'RequireSafeKeys no',
      'Syslog no',
      '',
    ].join('\n'),
  );
  const child = spawn(OPENDKIM, ['-f', '-x', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  };
  if (await listens(port, child)) return { port, pid: child.pid!, stop };
  await stop();
  return undefined;
}
