// The kernel's handling of connections to a shared port (SO_REUSEPORT) that a process has not accepted when it closes its socket.
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';

/** A setting of Linux 5.14 and later, per network namespace. */
const MIGRATION = '/proc/sys/net/ipv4/tcp_migrate_req';

/** Where clients connect to the shared port directly, a line of the log names the setting that keeps their connections. */
export function adviseOfMigration({ roles, httpPort, proxyNetworks }: Config, log: Logger): void {
  if (!roles.has('api') || httpPort === 'off' || proxyNetworks.length > 0) return;
  let migrates: string;
  try {
    migrates = readFileSync(MIGRATION, 'utf8').trim();
  } catch {
    return;
  }
  if (migrates === '0')
    log.info(
      'when a process stops, new HTTP connections may be reset: sysctl net.ipv4.tcp_migrate_req=1 hands them to another one',
    );
}
