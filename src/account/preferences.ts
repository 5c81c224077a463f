// Preferences: what an account chose, over the defaults. Only choices are stored, so another default reaches everyone who
// never chose.
import type { PreferenceStore } from '../store/preferences.js';
import type { PreferenceBook, Preferences } from './protocol.js';

const DEFAULTS: Preferences = {
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
};

export function createPreferenceBook(store: PreferenceStore): PreferenceBook {
  return {
    async read(accountId) {
      const found = await store.choices(accountId);
      return found && { ...DEFAULTS, ...(found.chosen as Partial<Preferences>), updatedAt: found.updatedAt };
    },

    async choose(accountId, chosen) {
      if (Object.keys(chosen).length === 0) return (await store.choices(accountId)) !== undefined;
      return store.choose(accountId, { ...chosen });
    },
  };
}
