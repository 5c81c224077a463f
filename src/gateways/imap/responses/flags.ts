// The flags of a message in responses (RFC 9051 §7.5.2). `\Recent` is never among them.
import { DELETED_BIT } from '../../../actors/mailbox/protocol.js';
import { DELETED_FLAG, flagNames } from '../../../mail-format/flags.js';
import type { FolderMirror } from '../view/folder-mirror.js';

/** Names of flags by their bits, for each combination that has occurred. */
const names = new Map<number, string>();

/** Returns the flags in parentheses. */
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
