// A Dovecot of its own beside whatever else is on the machine: configuration, sockets and mail in a temporary directory,
// IMAP and POP3 on free ports, every user with the same password. Undefined when there is no Dovecot, or this is not root.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../dev/ports.js';
import { certificate } from '../../test/support/certificate.js';

const DOVECOT = '/usr/sbin/dovecot';
const READY_MS = 10_000;

export interface Dovecot {
  readonly version: string;
  readonly imapPort: number;
  readonly imapsPort: number;
  readonly pop3Port: number;
  readonly pop3sPort: number;
  readonly password: string;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

const idOf = (flag: '-u' | '-g', name: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout);

export async function startDovecot(format: 'maildir' | 'mdbox' = 'mdbox'): Promise<Dovecot | undefined> {
  if (!existsSync(DOVECOT) || process.getuid?.() !== 0) return undefined;
  const directory = await mkdtemp(join(tmpdir(), 'mansio-dovecot-'));
  await chmod(directory, 0o755);
  const [run, state, mail] = ['run', 'state', 'mail'].map((name) => join(directory, name)) as [string, string, string];
  for (const each of [run, state, mail]) await mkdir(each, { mode: 0o755 });
  // Mail belongs to a user without rights: Dovecot refuses to serve root's.
  const [uid, gid] = [idOf('-u', 'dovecot'), idOf('-g', 'dovecot')];
  await chown(mail, uid, gid);
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  await writeFile(cert, certificate.cert);
  await writeFile(key, certificate.key, { mode: 0o600 });
  const [imapPort, imapsPort, pop3Port, pop3sPort] = (await freePorts(4)) as [number, number, number, number];
  const password = 'bench';
  const config = join(directory, 'dovecot.conf');
  await writeFile(
    config,
    `
protocols = imap pop3
listen = 127.0.0.1
base_dir = ${run}
state_dir = ${state}
log_path = ${join(directory, 'log')}
mail_location = ${format}:${mail}/%u
first_valid_uid = 1
ssl = yes
ssl_cert = <${cert}
ssl_key = <${key}
disable_plaintext_auth = no
mail_max_userip_connections = 0
default_process_limit = 3000
default_client_limit = 10000
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${mail}/%u
}
service anvil {
  client_limit = 20000
}
service auth {
  client_limit = 20000
}
service imap {
  process_limit = 3000
}
service pop3 {
  process_limit = 3000
}
service pop3-login {
  service_count = 0
  inet_listener pop3 {
    port = ${pop3Port}
  }
  inet_listener pop3s {
    port = ${pop3sPort}
    ssl = yes
  }
}
service imap-login {
  service_count = 0
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = ${imapsPort}
    ssl = yes
  }
}
`,
  );
  const child = spawn(DOVECOT, ['-F', '-c', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  };
  if (!(await listens(imapPort, child))) {
    await stop();
    return undefined;
  }
  const version = spawnSync(DOVECOT, ['--version'], { encoding: 'utf8' }).stdout.trim().split(' ')[0]!;
  return { version, imapPort, imapsPort, pop3Port, pop3sPort, password, process: child, stop };
}

async function listens(port: number, child: ChildProcess): Promise<boolean> {
  const until = Date.now() + READY_MS;
  while (Date.now() < until && child.exitCode === null) {
    const socket = connect({ host: '127.0.0.1', port });
    const opened = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (opened) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
