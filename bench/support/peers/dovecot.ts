// Starts a separate Dovecot for benchmarks: configuration, sockets and mail in a temporary directory, its protocols on free ports, every
// user with the same password. The result is undefined when Dovecot is not installed, or this user is not root.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate } from '../../../dev/certificate.js';
import { freePort } from '../../../dev/ports.js';
import { listens } from '../listens.js';

const DOVECOT = '/usr/sbin/dovecot';
const LMTP = '/usr/lib/dovecot/lmtp';

export type DovecotProtocol = 'imap' | 'pop3';
/** A protocol with STARTTLS, or with TLS from the start. */
export type DovecotListener = DovecotProtocol | `${DovecotProtocol}s`;

export interface DovecotOptions {
  readonly format?: 'maildir' | 'mdbox';
  /** When absent, Dovecot serves only IMAP. */
  readonly protocols?: readonly DovecotProtocol[];
  /** Accepts mail by LMTP, on the `lmtpPort`. */
  readonly lmtp?: boolean;
  /** Checks logins for Postfix, on the `saslPort`. */
  readonly sasl?: boolean;
  /** Answers only when everything is on disk, including its indexes (`mail_fsync = always`); otherwise Dovecot's defaults apply. */
  readonly isSynced?: boolean;
}

export interface Dovecot {
  readonly version: string;
  /** @throws Error for a listener of a protocol that was not requested */
  port(listener: DovecotListener): number;
  readonly lmtpPort: number | undefined;
  readonly saslPort: number | undefined;
  readonly password: string;
  /** A user's mail is in the subdirectory with the user's name; it belongs to the owner of the directory. */
  readonly mail: string;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

const idOf = (flag: '-u' | '-g', name: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout);

/** Dovecot 2.4 has other setting names, and requires the file to declare its version. */
const isOld = (version: string): boolean => /^2\.[0-3]\./.test(version);

/** Every process of a protocol serves a session; the login processes serve many. */
const serviceOf = (version: string, protocol: DovecotProtocol, port: number, tlsPort: number): string => `
service ${protocol} {
  process_limit = 3000
}
service ${protocol}-login {
  ${isOld(version) ? 'service_count = 0' : 'restart_request_count = unlimited'}
  inet_listener ${protocol} {
    port = ${port}
  }
  inet_listener ${protocol}s {
    port = ${tlsPort}
    ssl = yes
  }
}
`;

/** Dovecot 2.4 accepts ten messages of a user at a time and defers the others. */
const lmtpService = (version: string, port: number): string => `
${isOld(version) ? '' : 'lmtp_user_concurrency_limit = unlimited'}
service lmtp {
  inet_listener lmtp {
    port = ${port}
  }
}
`;

const saslListener = (port: number): string => `
  inet_listener sasl {
    port = ${port}
  }`;

interface Places {
  readonly mail: string;
  readonly cert: string;
  readonly key: string;
}

function settingsOf(version: string, format: string, password: string, { mail, cert, key }: Places): string {
  const [uid, gid] = [idOf('-u', 'dovecot'), idOf('-g', 'dovecot')];
  if (isOld(version)) {
    return `
mail_location = ${format}:${mail}/%u
ssl_cert = <${cert}
ssl_key = <${key}
disable_plaintext_auth = no
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${mail}/%u
}
`;
  }
  return `
mail_driver = ${format}
mail_path = ${mail}/%{user}
ssl_server_cert_file = ${cert}
ssl_server_key_file = ${key}
auth_allow_cleartext = yes
passdb static {
  password = ${password}
}
userdb static {
  fields {
    uid = ${uid}
    gid = ${gid}
    home = ${mail}/%{user}
  }
}
`;
}

export async function startDovecot({
  format = 'mdbox',
  protocols = ['imap'],
  lmtp = false,
  sasl = false,
  isSynced = false,
}: DovecotOptions = {}): Promise<Dovecot | undefined> {
  if (!existsSync(DOVECOT) || (lmtp && !existsSync(LMTP)) || process.getuid?.() !== 0) return undefined;
  const version = spawnSync(DOVECOT, ['--version'], { encoding: 'utf8' }).stdout.trim().split(/[ -]/)[0]!;
  const directory = await mkdtemp(join(tmpdir(), 'mansio-dovecot-'));
  await chmod(directory, 0o755);
  const [run, state, mail] = ['run', 'state', 'mail'].map((name) => join(directory, name)) as [string, string, string];
  for (const each of [run, state, mail]) await mkdir(each, { mode: 0o755 });
  // The mail belongs to an unprivileged user: Dovecot refuses to serve root's.
  const [uid, gid] = [idOf('-u', 'dovecot'), idOf('-g', 'dovecot')];
  await chown(mail, uid, gid);
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  await writeFile(cert, certificate.cert);
  await writeFile(key, certificate.key, { mode: 0o600 });
  const password = 'bench';
  const ports = new Map<DovecotListener, number>();
  for (const protocol of protocols) ports.set(protocol, await freePort()).set(`${protocol}s`, await freePort());
  const lmtpPort = lmtp ? await freePort() : undefined;
  const saslPort = sasl ? await freePort() : undefined;
  const port = (listener: DovecotListener): number => {
    const found = ports.get(listener);
    if (found === undefined) throw new Error(`this Dovecot has no ${listener}`);
    return found;
  };
  const config = join(directory, 'dovecot.conf');
  await writeFile(
    config,
    `${isOld(version) ? '' : `dovecot_config_version = ${version}\ndovecot_storage_version = ${version}`}
protocols = ${[...protocols, ...(lmtp ? ['lmtp'] : [])].join(' ')}
listen = 127.0.0.1
base_dir = ${run}
state_dir = ${state}
log_path = ${join(directory, 'log')}
first_valid_uid = 1
ssl = yes
mail_max_userip_connections = 0
${isSynced ? 'mail_fsync = always' : ''}
default_process_limit = 3000
default_client_limit = 10000
${settingsOf(version, format, password, { mail, cert, key })}
service anvil {
  client_limit = 20000
}
service auth {
  client_limit = 20000${saslPort === undefined ? '' : saslListener(saslPort)}
}
${lmtpPort === undefined ? '' : lmtpService(version, lmtpPort)}
${protocols.map((protocol) => serviceOf(version, protocol, port(protocol), port(`${protocol}s`))).join('')}`,
  );
  const child = spawn(DOVECOT, ['-F', '-c', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  };
  for (const each of [...ports.values(), lmtpPort, saslPort]) {
    if (each === undefined || (await listens(each, child))) continue;
    await stop();
    return undefined;
  }
  return { version, port, lmtpPort, saslPort, password, mail, process: child, stop };
}
