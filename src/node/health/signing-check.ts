// Checks whether mail of hosted domains leaves with DKIM signatures: the check `signing` of health, and a warning at the start. The SMTP
// client signs (src/message-checks/mailauth/signing.ts); nodes that do not deliver, and the demo, have no such check.
import type { Logger } from 'pino';
import type { HealthCheck } from '../../gateways/http/health.js';
import type { SigningKeyStore } from '../../store/signing-keys.js';
import type { Config } from '../config/config.js';

type Keys = Pick<SigningKeyStore, 'domainsWithoutKey'>;

/** The number of domains that the log names at a start. */
const NAMED = 20;

/** Undefined on a node that does not sign. */
export function signingKeysOf(
  { roles, demo, dkim }: Pick<Config, 'roles' | 'demo' | 'dkim'>,
  keys: Keys,
): Keys | undefined {
  if (!roles.has('outbound') || demo) return undefined;
  // The default key signs for domains without keys of their own.
  return dkim === undefined ? keys : { domainsWithoutKey: async () => [] };
}

/** Health is public, so it shows only the number of domains; the log and `mansio domain show` name them. */
export function signingCheck(keys: Keys): HealthCheck {
  return {
    name: 'signing',
    tags: ['infrastructure'],
    run: async () => {
      const { length: unsigned } = await keys.domainsWithoutKey();
      const data = { unsigned };
      if (unsigned === 0)
        return { status: 'Healthy', description: 'Mail of every hosted domain leaves with a DKIM signature.', data };
      const text =
        unsigned === 1
          ? '1 hosted domain has no DKIM key; its mail leaves unsigned.'
          : `${unsigned} hosted domains have no DKIM key; their mail leaves unsigned.`;
      const description = `${text} The command "mansio domain add DOMAIN" makes keys.`;
      return { status: 'Degraded', description, data };
    },
  };
}

export async function warnOfUnsigned(keys: Keys, log: Pick<Logger, 'warn'>): Promise<void> {
  const domains = await keys.domainsWithoutKey();
  if (domains.length === 0) return;
  log.warn(
    { domains: domains.slice(0, NAMED), count: domains.length },
    'mail of these domains leaves unsigned: "mansio domain add DOMAIN" makes DKIM keys and prints the records to publish',
  );
}
