// The rows of the protocols whose sessions share a listener and a loop, without TLS and with it.
import type { LoginRow, ProtocolRow } from '../../scenarios/protocols/protocol-row.js';
import { type MailListener, rows } from '../../scenarios/protocols/rows.js';

const NAMES: ReadonlySet<MailListener> = new Set(['imap', 'imaps', 'pop3', 'pop3s', 'sieve']);

export const sessionRows: readonly (readonly [name: MailListener, row: ProtocolRow, login: LoginRow])[] = rows.flatMap(
  ([name, row]) => (NAMES.has(name) && row.login !== undefined ? [[name, row, row.login] as const] : []),
);
