// Names of labels. They are IMAP mailbox names too (RFC 9051 §5.1): composed (NFC), without line breaks, and `/` parts
// levels, so no level may be empty. Names are compared by `caseFolded`; those of the system folders are taken.
import { caseFolded } from './case-fold.js';

export const LONGEST_LABEL_NAME = 100;
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;
export const SYSTEM_LABEL_NAMES = ['Inbox', 'Sent', 'Drafts', 'Trash', 'Junk', 'Archive', 'Outbox'];
const SYSTEM_NAMES = new Set(SYSTEM_LABEL_NAMES.map(caseFolded));

export const LABEL_COLOR = /^#[0-9a-f]{6}$/i;

/** The name as it is kept, or what is wrong with it in words. */
export function labelName(text: string): { readonly name: string } | { readonly problem: string } {
  // Before blanks are taken off: a line break at an end is one of them.
  if (UNFIT.test(text)) return { problem: 'must have no control characters or line breaks' };
  const name = text.normalize('NFC').trim();
  const length = Array.from(name).length;
  if (length === 0 || length > LONGEST_LABEL_NAME)
    return { problem: `must have 1 to ${LONGEST_LABEL_NAME} characters` };
  if (name.split('/').some((level) => level.trim() === ''))
    return { problem: 'must have no empty level between slashes' };
  if (SYSTEM_NAMES.has(caseFolded(name))) return { problem: 'is the name of a system folder' };
  return { name };
}
