// The German texts of the frame of the page.
import type { app as english } from '../en/app.js';
import type { Translation } from '../t.js';

export const app: Translation<typeof english> = {
  'app.reconnecting': 'Verbindung wird wiederhergestellt …',
  'app.offline': 'Offline: Was Sie tun, wird später gesendet',
  'app.menu': 'Ordner',
  'app.back': 'Zurück',
  'app.close': 'Schließen',
  'app.cancel': 'Abbrechen',
  'app.failed': 'Das ging nicht: {reason}',
  'app.noAnswer': 'der Server antwortet nicht',
  'app.signOut': 'Abmelden',
  'app.message': 'Nachricht',
  'app.noMessage': 'Wählen Sie eine E-Mail, um sie hier zu lesen.',
  'app.notFound': 'Unter dieser Adresse ist nichts.',
  'app.toInbox': 'Zum Posteingang',
  'keys.title': 'Tasten',
  'keys.hint': 'Sie wirken, solange kein Feld den Fokus hat.',
  'keys.sheet': 'Tasten zeigen',
  'undo.undo': 'Rückgängig',
  'undo.dismiss': 'Ausblenden',
  'undo.undone': 'Rückgängig gemacht',
  'undo.progress': 'Fortschritt',
  'undo.of': '{done} von {total}',
  'undo.undoing': 'Wird rückgängig gemacht …',
  'undo.key': 'Letzte Aktion rückgängig machen',
  'app.nothingKept': 'Dieser Browser hat noch nichts aufbewahrt. Die Mail erscheint, sobald der Server antwortet.',
  'app.lateRefusal': 'Etwas, das Sie offline getan haben, wurde abgelehnt und ist wieder wie zuvor: {reason}',
};
