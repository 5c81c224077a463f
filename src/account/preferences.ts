// Preferences: what an account chose, over the defaults. Only choices are stored, so another default reaches everyone who
// never chose.
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

export function createPreferences(store: PreferenceStore): Preferences {
  return {
    async read(accountId) {
      const found = await store.choices(accountId);
      return found && { ...DEFAULTS, ...(found.chosen as Partial<PreferenceValues>), updatedAt: found.updatedAt };
    },

    async choose(accountId, chosen) {
      if (Object.keys(chosen).length === 0) return (await store.choices(accountId)) !== undefined;
      return store.choose(accountId, { ...chosen });
    },
  };
}
