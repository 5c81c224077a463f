// How the page looks and works. Each choice is a preference, which every window of the account follows at once.
import type { PreferenceChanges } from '../../../src/client/index.js';
import { useStore } from '../app/store.js';
import { chooseLanguage, chosenLanguage } from '../i18n/language-choice.js';
import { LANGUAGES, t } from '../i18n/t.js';
import { Choice, Select, Switch } from './controls.js';
import { NotificationsSetting } from './notifications-setting.js';
import { SavingNote, useSaving } from './saving.js';
import { PictureSenders } from './senders-of-pictures.js';
import { undoDelays } from './undo-delays.js';

/** Each language in its own words. */
const NAMES = { en: 'English', de: 'Deutsch', ar: 'العربية' } as const;

export function General() {
  const store = useStore();
  const saving = useSaving();
  const preferences = store.preferences.value;
  if (preferences === undefined) return null;
  const prefer = (choice: PreferenceChanges) => void saving.save(() => store.prefer(choice));
  const { theme, displayDensity, defaultSort, showPreview, groupByDate, threads, undoSendSeconds, pictureSenders } =
    preferences;
  return (
    <>
      <Select
        label={t('settings.language')}
        options={[
          { value: '', text: t('settings.ofBrowser') },
          ...LANGUAGES.map((language) => ({ value: language, text: NAMES[language] })),
        ]}
        value={chosenLanguage() ?? ''}
        onChoose={chooseLanguage}
      />
      <Choice
        label={t('settings.theme')}
        options={[
          { value: 'system', text: t('settings.theme.system') },
          { value: 'light', text: t('settings.theme.light') },
          { value: 'dark', text: t('settings.theme.dark') },
        ]}
        value={theme}
        onChoose={(value) => prefer({ theme: value })}
      />
      <Choice
        label={t('list.density')}
        options={[
          { value: 'comfortable', text: t('list.comfortable') },
          { value: 'compact', text: t('list.compact') },
          { value: 'spacious', text: t('list.spacious') },
        ]}
        value={displayDensity}
        onChoose={(value) => prefer({ displayDensity: value })}
      />
      <div class="setting">
        <Switch
          label={t('settings.showPreview')}
          value={showPreview}
          onChoose={(value) => prefer({ showPreview: value })}
        />
        <Switch label={t('list.groups')} value={groupByDate} onChoose={(value) => prefer({ groupByDate: value })} />
        <Switch label={t('list.threads')} value={threads} onChoose={(value) => prefer({ threads: value })} />
      </div>
      <Select
        label={t('settings.sort')}
        options={[
          { value: 'date', text: t('list.newestFirst') },
          { value: 'sender', text: t('list.bySender') },
          { value: 'subject', text: t('list.bySubject') },
        ]}
        value={defaultSort}
        onChoose={(value) => prefer({ defaultSort: value })}
      />
      <PictureSenders senders={pictureSenders} onChange={(senders) => prefer({ pictureSenders: senders })} />
      <Select
        label={t('settings.undoSend')}
        hint={t('settings.undoSend.hint')}
        options={undoDelays(undoSendSeconds).map((seconds) => ({
          value: seconds,
          text: seconds === 0 ? t('settings.undoSend.off') : t('settings.seconds', { count: seconds }),
        }))}
        value={undoSendSeconds}
        onChoose={(value) => prefer({ undoSendSeconds: value })}
      />
      <NotificationsSetting saving={saving} />
      <SavingNote saving={saving} kept={(reason) => t('settings.choiceKept', { reason })} />
    </>
  );
}
