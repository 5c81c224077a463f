// The vacation of an account. It is one of its choices, so the mailbox writes it with its other changes, and answers mail by it
// (src/actors/mailbox/outbound/vacation.ts).
import type { PreferenceStore } from '../../store/preferences.js';
import { NO_VACATION, type Vacation } from '../../store/vacation.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import type { VacationSettings } from './protocol.js';

export function createVacation(store: PreferenceStore, mailboxes: Mailboxes, newId: () => string): VacationSettings {
  async function read(accountId: string): Promise<Vacation | undefined> {
    const found = await store.choices(accountId);
    return found && ((found.chosen['vacation'] as Vacation | undefined) ?? NO_VACATION);
  }
  return {
    read,
    async replace(accountId, chosen) {
      const { period, ...before } = (await read(accountId)) ?? NO_VACATION;
      const isSameText = (['subject', 'textBody', 'htmlBody'] as const).every((name) => before[name] === chosen[name]);
      const isNew = !isSameText || (chosen.isEnabled && !before.isEnabled);
      const vacation: Vacation = { ...chosen, period: isNew ? newId() : period };
      await mailboxes.of(accountId).ask('choosePreferences', { chosen: { vacation } });
    },
  };
}
