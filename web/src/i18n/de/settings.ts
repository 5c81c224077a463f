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
  'settings.language': 'Sprache',
  'settings.ofBrowser': 'Die des Browsers',
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
  'settings.textKept':
    'Das wurde nicht gespeichert. Was Sie geschrieben haben, ist noch hier, und die vorige Fassung gilt weiter. {reason}',
  'settings.todayAt': 'heute um {time}',
  'settings.lastUsed': 'Zuletzt benutzt: {date}',
  'settings.section.profile': 'Profil',
  'settings.profile.name': 'Anzeigename',
  'settings.profile.nameHint': 'Empfänger sehen ihn neben Ihrer Adresse.',
  'settings.profile.empty': 'Ein Name ist nötig. Bis Sie einen schreiben, bleibt „{name}“.',
  'settings.profile.address': 'Adresse',
  'settings.profile.addresses': 'Adressen',
  'settings.section.devices': 'Geräte',
  'settings.devices.about':
    'Diese Browser sind in Ihrem Konto angemeldet. Wen Sie abmelden, der verliert sofort den Zugang.',
  'settings.devices.current': 'Dieser Browser',
  'settings.devices.unknown': 'Unbekannter Browser',
  'settings.devices.browserOn': '{browser} unter {system}',
  'settings.devices.leave': 'Diesen Browser abmelden',
  'settings.devices.end': 'Abmelden: {name}',
  'settings.devices.endOthers': 'Alle anderen Browser abmelden',
  'settings.devices.ended': '{name} ist abgemeldet.',
  'settings.devices.endedAll': {
    one: '{count} anderer Browser ist abgemeldet.',
    other: '{count} andere Browser sind abgemeldet.',
  },
  'settings.devices.notEnded':
    'Nicht jeder Browser konnte abgemeldet werden; die in der Liste haben noch Zugang. Versuchen Sie es noch einmal. {reason}',
  'settings.devices.notRead': 'Die Browser können jetzt nicht gezeigt werden. {reason}',
};
