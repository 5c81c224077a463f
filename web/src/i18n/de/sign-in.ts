// The German texts of signing in and of passkeys.
import type { signIn as english } from '../en/sign-in.js';
import type { Translation } from '../t.js';

export const signIn: Translation<typeof english> = {
  'signIn.title': 'Anmelden',
  'signIn.ended':
    'Ihre Sitzung ist beendet. Melden Sie sich wieder an und machen Sie weiter, wo Sie waren: Was Sie geschrieben haben, ist noch da.',
  'signIn.key': 'API-Schlüssel',
  'signIn.submit': 'Anmelden',
  'signIn.hint':
    'Ein Schlüssel Ihres Kontos; er beginnt mit mansio_. Er wird nicht gespeichert: Mit ihm beginnt eine Sitzung dieses Browsers.',
  'signIn.link': 'Ohne Schlüssel erstellt der Betreiber einen Link, der Sie einmal anmeldet:',
  'signIn.demo': 'Die Demo (npm start) gibt einen solchen Link beim Start aus.',
  'signIn.refused':
    'Dieser Schlüssel gilt nicht. Prüfen Sie, ob er vollständig eingefügt ist; vielleicht wurde er auch widerrufen.',
  'signIn.passkey': 'Mit einem Passkey anmelden',
  'signIn.oidc': 'Mit {provider} anmelden',
  'signIn.oidc.foreign':
    'Niemand wurde angemeldet: Diese Anmeldung hat nicht hier begonnen, oder sie ist vorbei. Beginnen Sie noch einmal.',
  'signIn.oidc.late':
    'Niemand wurde angemeldet: Die Antwort des Anbieters wurde schon benutzt oder kam zu spät. Beginnen Sie noch einmal.',
  'signIn.oidc.denied':
    'Der Anbieter hat Sie nicht angemeldet: Der Zugang wurde dort abgelehnt. Beginnen Sie noch einmal, oder melden Sie sich anders an. {description}',
  'signIn.oidc.refused':
    'Der Anbieter hat Sie nicht angemeldet ({code}). Versuchen Sie es später, oder melden Sie sich anders an. {description}',
  'passkeys.title': 'Passkeys',
  'passkeys.about':
    'Mit einem Passkey melden Sie sich per Fingerabdruck, Gesicht oder PIN an, ohne Schlüssel und ohne Link.',
  'passkeys.offer': 'Melden Sie sich nächstes Mal mit Fingerabdruck, Gesicht oder PIN dieses Geräts an.',
  'passkeys.make': 'Passkey erstellen',
  'passkeys.notNow': 'Keinen Passkey mehr anbieten',
  'passkeys.added': 'Der Passkey ist erstellt. In den Einstellungen steht er unter Geräte.',
  'passkeys.addedNamed': '{name} ist hinzugefügt.',
  'passkeys.name': 'Name eines neuen Passkeys',
  'passkeys.add': 'Passkey hinzufügen',
  'passkeys.made': 'Noch nicht benutzt; erstellt: {date}',
  'passkeys.remove': 'Entfernen',
  'passkeys.removeNamed': 'Entfernen: {name}',
  'passkeys.removeQuestion': 'Dieser Passkey meldet nicht mehr an. Browser, die mit ihm angemeldet sind, bleiben es.',
  'passkeys.removed': '{name} ist entfernt. Löschen Sie ihn auch auf dem Gerät, damit es ihn nicht mehr anbietet.',
  'passkeys.notRemoved': '{name} ist nicht entfernt und meldet weiter an. {reason}',
  'passkeys.notAdded': 'Kein Passkey wurde hinzugefügt. {reason}',
  'passkeys.notRead': 'Die Passkeys können jetzt nicht gezeigt werden. {reason}',
  'passkeys.elsewhere':
    'Unter dieser Adresse können keine Passkeys hinzugefügt werden. Sie brauchen den Namen des Servers und https.',
  'passkeys.fault.unknown':
    'Dieser Passkey meldet nicht an: Er wurde aus dem Konto entfernt, oder die Antwort kam zu spät. Versuchen Sie es noch einmal; geht auch das nicht, melden Sie sich mit einem Schlüssel an und fügen in den Einstellungen einen Passkey hinzu.',
  'passkeys.fault.late':
    'Kein Passkey wurde hinzugefügt: Die Antwort kam zu spät oder passte nicht. Versuchen Sie es noch einmal.',
  'passkeys.fault.cancelled':
    'Kein Passkey wurde benutzt. Versuchen Sie es noch einmal, oder melden Sie sich mit einem Schlüssel oder Link an.',
  'passkeys.fault.notAdded':
    'Kein Passkey wurde hinzugefügt: Die Frage wurde geschlossen, oder ihre Zeit ist um. Versuchen Sie es noch einmal, wann Sie möchten.',
  'passkeys.fault.known':
    'Dieses Gerät hat schon einen Passkey des Kontos. Melden Sie sich mit ihm an, oder entfernen Sie ihn zuerst.',
  'passkeys.fault.unable':
    'Dieses Gerät kann keinen Passkey aufbewahren, der nach Fingerabdruck, Gesicht oder PIN fragt. Richten Sie eine Bildschirmsperre ein, oder nehmen Sie ein anderes Gerät.',
  'passkeys.fault.elsewhere':
    'Unter dieser Adresse gehen Passkeys nicht. Öffnen Sie die Seite unter dem Namen des Servers, über https.',
};
