// Preferences: what an account chose, over the defaults. Only choices are stored, so another default reaches everyone who
// never chose. The mailbox takes choices, so that clients learn of them; the store is read.
import type { Mailboxes } from '../actors/mailbox/protocol.js';
import type { PreferenceStore } from '../store/preferences.js';
import type { Preferences, PreferenceValues } from './protocol.js';

const DEFAULTS: PreferenceValues = {
  theme: 'system',
  displayDensity: 'comfortable',
  emailsPerPage: 20,
  defaultSort: 'date',
  showPreview: true,
  groupByDate: false,
  desktopNotifications: true,
  emailDigest: false,
  digestFrequency: 'daily',
  digestTime: '09:00',
  undoSendSeconds: 0,
};

export function createPreferences(store: PreferenceStore, mailboxes: Mailboxes): Preferences {
  return {
    async read(accountId) {
      const found = await store.choices(accountId);
      return found && { ...DEFAULTS, ...(found.chosen as Partial<PreferenceValues>), updatedAt: found.updatedAt };
    },

    async choose(accountId, chosen) {
      await mailboxes.of(accountId).ask('choosePreferences', { chosen: { ...chosen } });
    },
  };
}
