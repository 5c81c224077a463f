// Starts a separate Postfix for benchmarks: its queue in a temporary directory, its SMTP server on a free port, every domain of the
// benchmark routed to a sink. The result is undefined when Postfix is not installed, or this user is not root.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../dev/ports.js';

const POSTFIX = '/usr/sbin/postfix';

export interface Postfix {
  readonly port: number;
  readonly version: string;
  /** The id of its master process, which has started all others. */
  readonly pid: number;
  /** Returns the number of recipients to whom mail was delivered since the start. */
  delivered(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * `routes` maps a domain to `address:port` of its sink, or to a transport of Postfix with its next hop. `settings` are further lines of its
 * configuration.
 */
export async function startPostfix(
  routes: Readonly<Record<string, string>>,
  settings: readonly string[] = [],
): Promise<Postfix | undefined> {
  if (!existsSync(POSTFIX) || process.getuid?.() !== 0) return undefined;
  const directory = await mkdtemp(join(tmpdir(), 'mansio-postfix-'));
  spawnSync('chmod', ['755', directory]);
  const [config, spool, data] = ['etc', 'spool', 'data'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [config, spool, data]) await mkdir(each, { mode: 0o755 });
  const user = Number(spawnSync('id', ['-u', 'postfix'], { encoding: 'utf8' }).stdout);
  const group = Number(spawnSync('id', ['-g', 'postfix'], { encoding: 'utf8' }).stdout);
  await chown(data, user, group);
  const port = await freePort();
  const transports = Object.entries(routes).map(([domain, target]) => {
    if (/^[a-z]+:/.test(target)) return `${domain} ${target}`;
    const [address, at] = target.split(':');
    return `${domain} smtp:[${address}]:${at}`;
  });
  await writeFile(join(config, 'transport'), `${transports.join('\n')}\n`);
  await writeFile(
    join(config, 'main.cf'),
    [
      'compatibility_level = 3.6',
      `queue_directory = ${spool}`,
      `data_directory = ${data}`,
      `maillog_file = ${join(directory, 'log')}`,
      `maillog_file_prefixes = ${directory}`,
      'inet_interfaces = 127.0.0.1',
      'inet_protocols = ipv4',
      'mydestination =',
      'mynetworks = 127.0.0.0/8',
      'myhostname = postfix.test',
      `transport_maps = texthash:${join(config, 'transport')}`,
      'smtp_destination_concurrency_limit = 5',
      'initial_destination_concurrency = 5',
      'smtpd_client_connection_count_limit = 0',
      'smtp_dns_support_level = disabled',
      'smtp_host_lookup = native',
      'smtp_tls_security_level = none',
      ...settings,
      '',
    ].join('\n'),
  );
  await writeFile(
    join(config, 'master.cf'),
    [
      `127.0.0.1:${port} inet n - n - - smtpd`,
      'pickup unix n - n 60 1 pickup',
      'cleanup unix n - n - 0 cleanup',
      'qmgr unix n - n 300 1 qmgr',
      'rewrite unix - - n - - trivial-rewrite',
      'bounce unix - - n - 0 bounce',
      'defer unix - - n - 0 bounce',
      'trace unix - - n - 0 bounce',
      'flush unix n - n 1000? 0 flush',
      'proxymap unix - - n - - proxymap',
      'smtp unix - - n - - smtp',
      'lmtp unix - - n - - lmtp',
      'error unix - - n - - error',
      'retry unix - - n - - error',
      'discard unix - - n - - discard',
      'anvil unix - - n - 1 anvil',
      'scache unix - - n - 1 scache',
      'postlog unix-dgram n - n - 1 postlogd',
      '',
    ].join('\n'),
  );
  const run = (...args: string[]) =>
    new Promise<number | null>((resolve) => {
      spawn(POSTFIX, ['-c', config, ...args], { stdio: ['ignore', 'ignore', 'inherit'] }).once('exit', resolve);
    });
  if ((await run('start')) !== 0) {
    await rm(directory, { recursive: true, force: true });
    return undefined;
  }
  const version = spawnSync('/usr/sbin/postconf', ['-d', '-h', 'mail_version'], { encoding: 'utf8' }).stdout.trim();
  return {
    port,
    version,
    pid: Number(await readFile(join(spool, 'pid', 'master.pid'), 'utf8')),
    delivered: async () => (await readFile(join(directory, 'log'), 'latin1')).split(' status=sent ').length - 1,
    async stop() {
      await run('abort');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
