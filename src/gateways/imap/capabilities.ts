// The capabilities that the server announces (RFC 9051 §7.2.2), by the state of the session. An extension is named only when the
// commands that carry it out are in the table.
import type { Session } from './session.js';

/** Announced in every state. */
const ALWAYS = ['IMAP4rev1', 'IMAP4rev2', 'SASL-IR', 'LITERAL+', 'ID', 'ENABLE'];

/** Announced after the login, with the commands that each one needs. */
const EXTENSIONS: readonly (readonly [capability: string, commands: readonly string[]])[] = [
  ['IDLE', ['IDLE']],
  ['NAMESPACE', ['NAMESPACE']],
  ['CHILDREN', ['LIST']],
  ['LIST-EXTENDED', ['LIST']],
  ['LIST-STATUS', ['LIST', 'STATUS']],
  ['LIST-METADATA', ['LIST', 'GETMETADATA']],
  ['SPECIAL-USE', ['LIST']],
  ['CREATE-SPECIAL-USE', ['CREATE']],
  ['UNSELECT', ['UNSELECT']],
  ['UIDPLUS', ['APPEND', 'COPY', 'EXPUNGE']],
  ['MOVE', ['MOVE']],
  ['MULTIAPPEND', ['APPEND']],
  ['CATENATE', ['APPEND']],
  ['REPLACE', ['REPLACE']],
  ['BINARY', ['APPEND', 'FETCH']],
  ['UTF8=ACCEPT', ['APPEND', 'LIST', 'SEARCH']],
  ['STATUS=SIZE', ['STATUS']],
  ['OBJECTID', ['SELECT', 'STATUS', 'FETCH']],
  ['SAVEDATE', ['FETCH', 'SEARCH']],
  ['PREVIEW', ['FETCH']],
  ['CONDSTORE', ['SELECT', 'FETCH', 'STORE', 'SEARCH']],
  ['QRESYNC', ['SELECT', 'FETCH', 'STORE', 'SEARCH']],
  ['UIDONLY', ['FETCH', 'STORE', 'SEARCH', 'COPY', 'MOVE']],
  ['ESEARCH', ['SEARCH']],
  ['SEARCHRES', ['SEARCH']],
  ['WITHIN', ['SEARCH']],
  ['INPROGRESS', ['SEARCH']],
  ['I18NLEVEL=1', ['SEARCH', 'SORT', 'THREAD']],
  ['PARTIAL', ['SEARCH', 'FETCH']],
  ['CONTEXT=SEARCH', ['SEARCH', 'CANCELUPDATE']],
  ['SORT', ['SORT']],
  ['SORT=DISPLAY', ['SORT']],
  ['ESORT', ['SORT']],
  ['CONTEXT=SORT', ['SORT', 'CANCELUPDATE']],
  ['THREAD=ORDEREDSUBJECT', ['THREAD']],
  ['THREAD=REFERENCES', ['THREAD']],
  ['NOTIFY', ['NOTIFY']],
  ['METADATA', ['GETMETADATA', 'SETMETADATA']],
  ['QUOTA', ['GETQUOTA', 'GETQUOTAROOT']],
  ['QUOTA=RES-STORAGE', ['GETQUOTA', 'GETQUOTAROOT']],
  ['QUOTA=RES-MESSAGE', ['GETQUOTA', 'GETQUOTAROOT']],
  ['QUOTA=RES-MAILBOX', ['GETQUOTA', 'GETQUOTAROOT']],
];

/** `commands` are the names of the table. */
export function capabilitiesOf(commands: ReadonlySet<string>): (session: Session) => string {
  const extensions = EXTENSIONS.filter(([, needs]) => needs.every((name) => commands.has(name))).map(([name]) => name);
  const hasAppend = commands.has('APPEND');
  const hasCompression = commands.has('COMPRESS');
  return (session) => {
    const names = [...ALWAYS];
    if (session.state === 'not-authenticated') {
      if (!session.isSecure) names.push('STARTTLS');
      const { logins } = session;
      if (logins.mayShowCredentials(session)) names.push(...logins.mechanisms.map((mechanism) => `AUTH=${mechanism}`));
      else names.push('LOGINDISABLED');
      return names.join(' ');
    }
    names.push(...extensions);
    if (hasAppend) names.push(`APPENDLIMIT=${session.context.maxMessageSize}`);
    if (hasCompression && !session.connection.isCompressed) names.push('COMPRESS=DEFLATE');
    return names.join(' ');
  };
}
