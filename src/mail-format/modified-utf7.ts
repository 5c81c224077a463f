// Modified UTF-7, in which IMAP4rev1 and Maildir++ write names of mailboxes in ASCII (RFC 3501 §5.1.3). `&` opens a run of UTF-16BE in
// base64 with `,` for `/`, `-` ends the run, and `&-` is `&`. A name has exactly one encoding; any other text is invalid.

const UNPRINTABLE = /[^\x20-\x7e]+|&/g;
const ENCODED = /&([^-]*)-/g;
/** Matches a lone surrogate. */
const SURROGATE = /\p{Cs}/u;
const PRINTABLE = /^[\x20-\x7e]*$/;

export function encodeModifiedUtf7(name: string): string {
  return name.replace(UNPRINTABLE, (run) => (run === '&' ? '&-' : `&${encodeRun(run)}-`));
}

/** Returns undefined when the text is not the encoding of any name. */
export function decodeModifiedUtf7(text: string): string | undefined {
  if (!text.includes('&')) return PRINTABLE.test(text) ? text : undefined;
  const name = text.replace(ENCODED, (_, run: string) => (run === '' ? '&' : decodeRun(run)));
  // A valid text is what encoding its name returns: lone surrogates, unused bits and encoded printable characters fail this.
  return !SURROGATE.test(name) && encodeModifiedUtf7(name) === text ? name : undefined;
}

function encodeRun(run: string): string {
  return Buffer.from(run, 'utf16le').swap16().toString('base64').replaceAll('/', ',').replace(/=+$/, '');
}

function decodeRun(run: string): string {
  const octets = Buffer.from(run.replaceAll(',', '/'), 'base64');
  return octets
    .subarray(0, octets.length & ~1)
    .swap16()
    .toString('utf16le');
}
