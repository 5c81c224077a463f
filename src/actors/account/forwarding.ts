// Where an account sends its mail on (docs/decisions/0097). It is one of its choices, so the mailbox writes it with its other changes; the
// mailbox decides by it what is due when mail arrives (src/actors/mailbox/commands/forwarding.ts).
import { canonicalAddress } from '../../mail-format/address.js';
import type { DirectoryStore } from '../../store/directory.js';
import { type Forwarding, NO_FORWARDING, type PreferenceStore } from '../../store/preferences.js';
import type { HostedDomains } from '../directory/protocol.js';
import { domainOf } from '../directory/unclaimed-mailboxes.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import type { ForwardingSettings } from './protocol.js';

interface Ports {
  readonly directory: Pick<DirectoryStore, 'profile'>;
  readonly domains: Pick<HostedDomains, 'accepts'>;
  readonly preferences: PreferenceStore;
  readonly mailboxes: Mailboxes;
}

export function createForwarding({ directory, domains, preferences, mailboxes }: Ports): ForwardingSettings {
  const forwarding: ForwardingSettings = {
    async read(accountId) {
      const found = await preferences.choices(accountId);
      if (found === undefined) return undefined;
      const chosen = (found.chosen['forwarding'] as Forwarding | undefined) ?? NO_FORWARDING;
      if (chosen.address === null || (await forwarding.targetOf(accountId, chosen.address)) !== undefined)
        return chosen;
      // An address that is verified no more gets nothing.
      return { ...NO_FORWARDING, keepCopy: chosen.keepCopy };
    },

    async replace(accountId, { isEnabled, address, keepCopy }) {
      const chosen: Forwarding = { isEnabled, address, keepCopy };
      await mailboxes.of(accountId).ask('choosePreferences', { chosen: { forwarding: chosen } });
    },

    async targetOf(accountId, text) {
      const address = canonicalAddress(text);
      if (address === undefined) return undefined;
      const { additionalAddresses = [] } = (await directory.profile(accountId)) ?? {};
      const { isVerified = false, isForwardingOnly = false } =
        additionalAddresses.find((own) => own.address === address) ?? {};
      // Mail for an own address at a hosted domain comes to the account anyway.
      const isElsewhere = isVerified && !(await domains.accepts(domainOf(address)));
      return isElsewhere || isForwardingOnly ? address : undefined;
    },
  };
  return forwarding;
}
