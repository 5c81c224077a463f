// The flags of a message as responses have them (RFC 9051 §7.5.2). `\Recent` is never among them.
import { DELETED_BIT } from '../../../actors/mailbox/packed-columns.js';
import { DELETED_FLAG, flagNames } from '../../../mail/flags.js';
import type { FolderMirror } from '../view/folder-mirror.js';

/** The system flags and keywords that have a bit, of each combination that occurred. */
const names = new Map<number, string>();

/** In parentheses. */
export function flagList(mirror: FolderMirror, index: number): string {
  const bits = mirror.bitsAt(index);
  const keywords = mirror.keywordsAt(index);
  let list = names.get(bits);
  if (list === undefined) {
    list = [...flagNames(bits), ...((bits & DELETED_BIT) === 0 ? [] : [DELETED_FLAG])].join(' ');
    names.set(bits, list);
  }
  if (keywords.length === 0) return `(${list})`;
  return list === '' ? `(${keywords.join(' ')})` : `(${list} ${keywords.join(' ')})`;
}
