// The German texts of the settings.
import type { settings as english } from '../en/settings.js';
import type { Translation } from '../t.js';

export const settings: Translation<typeof english> = {
  'settings.title': 'Einstellungen',
  'settings.open': 'Zu den Einstellungen',
  'settings.notLoaded': 'Die Einstellungen konnten nicht geladen werden. Nichts hat sich geändert.',
  'settings.again': 'Noch einmal versuchen',
  'settings.saving': 'Wird gespeichert …',
  'settings.saved': 'Gespeichert',
  'settings.choiceKept':
    'Das wurde nicht gespeichert, die vorige Einstellung bleibt. Wählen Sie noch einmal, um es erneut zu versuchen. {reason}',
  'settings.section.general': 'Allgemein',
  'settings.theme': 'Farben',
  'settings.theme.system': 'Wie das Gerät',
  'settings.theme.light': 'Hell',
  'settings.theme.dark': 'Dunkel',
  'settings.showPreview': 'In Listen den Anfang jeder E-Mail zeigen',
  'settings.sort': 'Reihenfolge der Listen',
  'settings.undoSend': 'Zeit, um das Senden rückgängig zu machen',
  'settings.undoSend.hint': 'So lange wartet eine E-Mail, bevor sie gesendet wird.',
  'settings.undoSend.off': 'Keine: sofort senden',
  'settings.seconds': { one: '{count} Sekunde', other: '{count} Sekunden' },
};
