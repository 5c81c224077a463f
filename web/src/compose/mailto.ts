// What a `mailto:` link begins (RFC 6068): recipients, subject and text. Its other fields are left out, as the RFC wants of what a stranger
// wrote.
import { percentDecoded } from '../app/percent-decoding.js';

export interface MailtoFields {
  /** Lists of addresses as one types them. */
  readonly to: string;
  readonly cc: string;
  readonly bcc: string;
  readonly subject: string;
  /** Plain text. */
  readonly body: string;
}

const MAILTO = /^mailto:/i;
const LONGEST_LINK = 8192;

/** Undefined for another link, or one that is too long. */
export function mailtoFields(link: string): MailtoFields | undefined {
  if (!MAILTO.test(link) || link.length > LONGEST_LINK) return undefined;
  const [path = '', query = ''] = link
    .replace(MAILTO, '')
    .replace(/#.*$/s, '')
    .split(/\?(.*)/s);
  const found = new Map([['to', path === '' ? [] : [percentDecoded(path)]]]);
  for (const field of query.split('&')) {
    const at = field.indexOf('=');
    const name = percentDecoded(field.slice(0, Math.max(0, at))).toLowerCase();
    // A plus stands for itself.
    found.set(name, [...(found.get(name) ?? []), percentDecoded(field.slice(at + 1))]);
  }
  const all = (name: string) => (found.get(name) ?? []).filter((value) => value !== '');
  return {
    to: all('to').join(', '),
    cc: all('cc').join(', '),
    bcc: all('bcc').join(', '),
    subject: (all('subject').at(-1) ?? '').replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '),
    body: all('body').join('\r\n'),
  };
}
