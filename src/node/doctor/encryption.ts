// Whether connections to NATS and PostgreSQL on other machines are encrypted, for the checks of both.
import type { Config } from '../config/config.js';
import { remoteServers } from '../health/backend-tls.js';
import { type CheckResult, ok, warn } from './finding.js';

/** Empty when all servers of the setting are on this machine. */
export function encryptionOf(
  setting: 'NATS_URL' | 'DATABASE_URL',
  config: Pick<Config, 'natsUrl' | 'databaseUrl'>,
): readonly CheckResult[] {
  return remoteServers(config)
    .filter((servers) => servers.setting === setting)
    .map(({ plaintext, carries, fix }) =>
      plaintext.length === 0
        ? ok('TLS', 'connections to other machines are encrypted')
        : warn('TLS', `${plaintext.join(', ')} may be reached without TLS: ${carries} can be read on the way`, fix),
    );
}
