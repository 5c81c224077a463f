// Holds messages of the kinds that people receive, octet for octet: CRLF and raw 8-bit octets matter.
import { readFileSync } from 'node:fs';
import type { MessageIndex } from '../../src/mail-format/message-index.js';
import { indexMessage } from '../../src/mail-format/mime-index/indexer.js';

const CASES = new URL('../../../test/mail-format/cases/', import.meta.url);

export type CaseName =
  | 'calendar-invite'
  | 'comments-in-addresses'
  | 'footer-after-base64'
  | 'html-only-words'
  | 'name-cut-in-a-letter'
  | 'nested-alternative'
  | 'raw-octet-in-encoded-word'
  | 'raw-subject-in-body-charset'
  | 'uuencode';

export function caseMessage(name: CaseName): Buffer {
  return readFileSync(new URL(`${name}.eml`, CASES));
}

export function caseIndex(name: CaseName): MessageIndex {
  return indexMessage(caseMessage(name));
}
