// Preferences: the account's choices over the defaults. Only choices are stored, so a new default reaches every account that never chose.
// Choices are written through the mailbox, so that clients learn of them, and read from the store.

import type { PreferenceStore } from '../../store/preferences.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import type { Preferences, PreferenceValues } from './protocol.js';

const DEFAULTS: PreferenceValues = {
  theme: 'system',
  displayDensity: 'comfortable',
  emailsPerPage: 20,
  defaultSort: 'date',
  showPreview: true,
  groupByDate: false,
  threads: true,
  desktopNotifications: true,
  emailDigest: false,
  digestFrequency: 'daily',
  digestTime: '09:00',
  undoSendSeconds: 0,
  signature: '',
  identities: [],
  pictureSenders: [],
};

export function createPreferences(store: PreferenceStore, mailboxes: Mailboxes): Preferences {
  return {
    async read(accountId) {
      const found = await store.choices(accountId);
      if (found === undefined) return undefined;
      // These have endpoints of their own.
      const { senders: _senders, forwarding: _forwarding, vacation: _vacation, ...chosen } = found.chosen;
      return { ...DEFAULTS, ...(chosen as Partial<PreferenceValues>), updatedAt: found.updatedAt };
    },

    async choose(accountId, chosen) {
      await mailboxes.of(accountId).ask('choosePreferences', { chosen: { ...chosen } });
    },
  };
}
