// Formats LIST, LSUB and NAMESPACE (RFC 9051 §7.3, RFC 5258). Responses are binary strings with their line end.
import { SEPARATOR, SPECIAL_USES, type TreeMailbox } from '../mailboxes/mailbox-tree.js';
import type { Session } from '../session.js';
import { mailboxName } from '../wire/format.js';

export interface ListExtension {
  /** CHILDINFO: the selection options that mailboxes below this one meet. */
  readonly childInfo?: readonly string[];
  /** OLDNAME: another name of the mailbox that the client has used. */
  readonly oldName?: string;
}

/** The root of all names, which an empty pattern asks for. */
export const ROOT = `* LIST (\\Noselect) "${SEPARATOR}" ""\r\n`;

export const NAMESPACE = `* NAMESPACE (("" "${SEPARATOR}")) NIL NIL\r\n`;

/** Whether names of mailboxes are sent as UTF-8 (RFC 9051 §5.1, RFC 6855 §3). */
export const takesUtf8 = ({ enabled }: Pick<Session, 'enabled'>): boolean =>
  enabled.has('IMAP4REV2') || enabled.has('UTF8=ACCEPT');

export function listResponse(
  name: string,
  attributes: readonly string[],
  isUtf8: boolean,
  { childInfo, oldName }: ListExtension = {},
): string {
  const items: string[] = [];
  if (childInfo !== undefined) items.push(`"CHILDINFO" (${childInfo.map((option) => `"${option}"`).join(' ')})`);
  if (oldName !== undefined) items.push(`"OLDNAME" (${mailboxName(oldName, isUtf8)})`);
  const extension = items.length === 0 ? '' : ` (${items.join(' ')})`;
  return `* LIST (${attributes.join(' ')}) "${SEPARATOR}" ${mailboxName(name, isUtf8)}${extension}\r\n`;
}

export const lsubResponse = (name: string, attributes: readonly string[], isUtf8: boolean): string =>
  `* LSUB (${attributes.join(' ')}) "${SEPARATOR}" ${mailboxName(name, isUtf8)}\r\n`;

/** Adds \Noselect to \NonExistent, which implies it, because RFC 3501 clients know only \Noselect. */
export function attributesOf({ folder, hasChildren, isSubscribed }: TreeMailbox, withSubscribed = false): string[] {
  const attributes = folder === undefined ? ['\\Noselect', '\\NonExistent'] : [];
  attributes.push(hasChildren ? '\\HasChildren' : '\\HasNoChildren');
  if (withSubscribed && isSubscribed) attributes.push('\\Subscribed');
  if (folder === undefined) return attributes;
  const use = SPECIAL_USES.get(folder.role);
  if (use !== undefined) attributes.push(use);
  return attributes;
}
