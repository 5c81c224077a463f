// URLs of messages and their parts (RFC 5092), as CATENATE names them (RFC 4469): absolute, from the root of a server, or relative to
// the selected mailbox. URLs with authorization (RFC 4467) are not accepted.
import { isUtf8 } from 'node:buffer';
import { CommandSyntaxError, createReader } from '../wire/command-reader.js';
import { type Section, section } from './section.js';

export interface MessageUrl {
  /** The server of an absolute URL. `user` is undefined for a URL without one. */
  readonly server: { readonly user: string | undefined; readonly host: string } | undefined;
  /** The name in composed Unicode; undefined means the selected mailbox. */
  readonly mailbox: string | undefined;
  readonly uidValidity: number | undefined;
  readonly uid: number;
  /** Undefined means the whole message. */
  readonly section: Section | undefined;
  /** In octets. An undefined `length` means up to the end. */
  readonly partial: { readonly offset: number; readonly length: number | undefined } | undefined;
}

const SERVER = /^imap:\/\/(?:([^@/]*)@)?([^@/;]+)(?=\/)/i;
const PATH =
  /^(?:\/([^;]*?))?(?:;UIDVALIDITY=(\d+))?\/?;UID=(\d+)(?:\/?;SECTION=([^;]+?))?(?:\/?;PARTIAL=(\d+)(?:\.(\d+))?)?$/i;
const ESCAPE = /%([0-9A-Fa-f]{2})/g;
const UNICODE_OR_BROKEN = /[^\x20-\x7e]|%(?![0-9A-Fa-f]{2})/;
const MAX_NUMBER = 0xffff_ffff;

/** Returns undefined when the text is not the URL of a message. */
export function messageUrl(text: string): MessageUrl | undefined {
  if (UNICODE_OR_BROKEN.test(text)) return undefined;
  const [origin = '', userInfo, host] = SERVER.exec(text) ?? [];
  const path = PATH.exec(text.slice(origin.length));
  if (path === null) return undefined;
  const [, mailboxText = '', uidValidityText, uidText, sectionText, offset, length] = path;
  const mailbox = unescaped(mailboxText);
  const user = userInfo === undefined ? undefined : unescaped(userInfo.split(';')[0]!);
  const uid = numberOf(uidText!);
  const uidValidity = uidValidityText === undefined ? undefined : numberOf(uidValidityText);
  const part = sectionText === undefined ? undefined : sectionOf(sectionText);
  const partial = offset === undefined ? undefined : partialOf(offset, length);
  const isUnfit =
    mailbox === undefined ||
    uid === undefined ||
    (userInfo !== undefined && user === undefined) ||
    (uidValidityText !== undefined && uidValidity === undefined) ||
    (sectionText !== undefined && part === undefined) ||
    (offset !== undefined && partial === undefined) ||
    (host !== undefined && mailbox === '');
  if (isUnfit) return undefined;
  const server = host === undefined ? undefined : { user: user === '' ? undefined : user, host };
  return { server, mailbox: mailbox === '' ? undefined : mailbox, uidValidity, uid, section: part, partial };
}

function unescaped(text: string): string | undefined {
  const octets = Buffer.from(
    text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  return isUtf8(octets) ? octets.toString('utf8').normalize('NFC') : undefined;
}

function numberOf(digits: string): number | undefined {
  const value = Number(digits);
  return value >= 1 && value <= MAX_NUMBER ? value : undefined;
}

function partialOf(offsetText: string, lengthText: string | undefined): MessageUrl['partial'] {
  const offset = Number(offsetText);
  const length = lengthText === undefined ? undefined : Number(lengthText);
  const isFit = Number.isSafeInteger(offset) && (length === undefined || (Number.isSafeInteger(length) && length > 0));
  return isFit ? { offset, length } : undefined;
}

function sectionOf(text: string): Section | undefined {
  const decoded = unescaped(text);
  if (decoded === undefined) return undefined;
  try {
    const reader = createReader(Buffer.from(`[${decoded}]`, 'utf8'));
    const read = section(reader);
    return reader.isAtEnd ? read : undefined;
  } catch (error) {
    if (error instanceof CommandSyntaxError) return undefined;
    throw error;
  }
}
