// The rows of the protocols whose sessions share a listener and a loop, without TLS and with it.
import { type LoginRow, type MailListener, type ProtocolRow, rows } from '../../scenarios/protocols/rows.js';

const NAMES: ReadonlySet<MailListener> = new Set(['imap', 'imaps', 'pop3', 'pop3s']);

export const sessionRows: readonly (readonly [name: MailListener, row: ProtocolRow, login: LoginRow])[] = rows.flatMap(
  ([name, row]) => (NAMES.has(name) && row.login !== undefined ? [[name, row, row.login] as const] : []),
);
