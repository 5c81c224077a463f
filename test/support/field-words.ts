// The words of an email's fields, as a test names them, and the texts that contain them.
import { wordsOf } from '../../src/mail-format/words/search-text.js';
import type { IndexedTexts } from '../../src/store/search.js';

export type FieldWords = { readonly [field in keyof IndexedTexts]: readonly string[] };

/** The other fields are empty. */
export function textsWith(fields: Partial<IndexedTexts>): IndexedTexts {
  return { subject: '', sender: '', recipients: '', attachments: '', body: '', ...fields };
}

/** `words` are folded. */
export function textsOf(words: FieldWords): IndexedTexts {
  return mapped(words, (some) => some.join(' '));
}

export function fieldWordsOf(texts: IndexedTexts): FieldWords {
  return mapped<string | Buffer, string[]>(texts, (text) => wordsOf(String(text)));
}

function mapped<A, B>(fields: { readonly [field in keyof IndexedTexts]: A }, of: (field: A) => B) {
  const { subject, sender, recipients, attachments, body } = fields;
  return {
    subject: of(subject),
    sender: of(sender),
    recipients: of(recipients),
    attachments: of(attachments),
    body: of(body),
  };
}
