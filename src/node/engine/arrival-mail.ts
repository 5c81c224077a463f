// Mail that the server sends because mail arrived (docs/decisions/0097): the writers of its kinds, over the stores and keys of the node.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Directory, HostedDomains, Senders } from '../../actors/directory/protocol.js';
import { type AutomaticMail, startAutomaticMail } from '../../actors/mailbox/background/automatic-mail.js';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import type { Ownership } from '../../actors/runtime/ownership/ownership.js';
import { readDkimKey } from '../../mail-format/authentication/dkim-key.js';
import { SenderRewriting } from '../../mail-format/srs.js';
import { clock } from '../../store/clock.js';
import { StoreFault } from '../../store/errors.js';
import { newId } from '../../store/ids/new-id.js';
import { postgresPreferences } from '../../store/postgres/accounts/preferences.js';
import { postgresAutomaticMail } from '../../store/postgres/mailbox/due-mail.js';
import { postgresSigningKeys } from '../../store/postgres/outbound/signing-keys.js';
import type { SettingStore } from '../../store/settings.js';
import type { SigningKeyStore } from '../../store/signing-keys.js';
import { NO_VACATION, type Vacation } from '../../store/vacation.js';
import { addJob, type EngineContext } from './engine-context.js';
import { forwardWriter } from './forward-writer.js';
import { rejectWriter } from './reject-writer.js';
import type { EngineStores } from './stores.js';
import { vacationWriter } from './vacation-writer.js';

const SECRET_OCTETS = 32;
/** How often mailboxes that are not loaded are looked for. */
const LOOK_MS = 2_000;

/** All nodes share the secret, because a bounce may come to any of them. @throws StoreFault */
export async function senderRewriting(settings: SettingStore): Promise<SenderRewriting> {
  const initial = () => randomBytes(SECRET_OCTETS).toString('base64url');
  return new SenderRewriting(await settings.getOrCreate('srs-secret', initial));
}

interface ArrivalMailParts {
  readonly directory: Pick<Directory, 'isAddressOf'> & HostedDomains & Pick<Senders, 'mayForwardTo' | 'maySendAs'>;
  readonly rewriting: SenderRewriting;
  readonly mailboxes: Mailboxes;
  readonly ownership: Pick<Ownership, 'owned'>;
}

export function startArrivalMail(
  context: EngineContext,
  { blobs, accounts }: Pick<EngineStores, 'blobs' | 'accounts'>,
  { directory, rewriting, mailboxes, ownership }: ArrivalMailParts,
): AutomaticMail {
  const { config, log } = context;
  const keys = signingKeys(context);
  const forward = forwardWriter({
    blobs,
    directory,
    addressOf: async (accountId) => (await accounts.accountById(accountId))?.email,
    rewriting,
    async seal(message, seal) {
      // Nodes that forward nothing do not load it, because it is large.
      const { createSealer } = await import('../../message-checks/mailauth/arc-seal.js');
      try {
        return await createSealer(keys)(message, seal);
      } catch (err) {
        if (err instanceof StoreFault) throw err;
        log.warn({ domain: seal.domain, err }, 'a forwarded message could not be sealed: it leaves without a seal');
        return '';
      }
    },
    hostname: config.hostname,
    now: () => clock.now(),
  });
  const preferences = postgresPreferences(context.node.sql);
  const replying = {
    ...{ blobs, hostname: config.hostname, newId, now: () => clock.now() },
    account: (accountId: string) => accounts.accountById(accountId),
  };
  const vacation = vacationWriter({
    ...replying,
    directory,
    async vacation(accountId) {
      const found = await preferences.choices(accountId);
      return (found?.chosen['vacation'] as Vacation | undefined) ?? NO_VACATION;
    },
  });
  const store = postgresAutomaticMail(context.node.sql);
  const look = {
    find: async (limit: number) => (ownership.owned.length === 0 ? [] : store.accountsDue(ownership.owned, limit)),
    intervalMs: LOOK_MS,
  };
  const automaticMail = startAutomaticMail({
    ...{ write: { forward, vacation, reject: rejectWriter(replying) }, blobs, mailboxes, look, log },
    ...(context.observability.metrics !== undefined && { meter: context.observability.metrics.forwards }),
  });
  addJob(context, 'mail that is due because mail arrived', () => automaticMail.stop());
  return automaticMail;
}

/** The keys of a hosted domain; the one of `MANSIO_DKIM_KEY` where it has none. */
function signingKeys({ config: { dkim }, node }: EngineContext): Pick<SigningKeyStore, 'keysOf'> {
  const store = postgresSigningKeys(node.sql);
  return {
    async keysOf(domain) {
      const own = await store.keysOf(domain);
      if (own.length > 0 || dkim === undefined) return own;
      const { algorithm, privateKey } = readDkimKey(await readFile(dkim.key, 'utf8'));
      return [{ domain, selector: dkim.selector, algorithm, privateKey }];
    },
  };
}
