// The senders that an account allows or blocks. They are one of its choices, so the mailbox writes them with its other changes; the mailbox
// judges mail by them (src/actors/mailbox/commands/deliver.ts).
import { NO_SENDERS, type SenderLists } from '../../mail-format/senders.js';
import type { PreferenceStore } from '../../store/preferences.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import type { SenderBook } from './protocol.js';

export function createSenders(store: PreferenceStore, mailboxes: Mailboxes): SenderBook {
  return {
    async read(accountId) {
      const found = await store.choices(accountId);
      return found && ((found.chosen['senders'] as SenderLists | undefined) ?? NO_SENDERS);
    },

    async replace(accountId, { allowed, blocked }) {
      const senders: SenderLists = { allowed, blocked };
      await mailboxes.of(accountId).ask('choosePreferences', { chosen: { senders } });
    },
  };
}
