// Modified UTF-7: how IMAP4rev1 and Maildir++ write names of mailboxes in ASCII (RFC 3501 §5.1.3). `&` opens a run of UTF-16BE in base64 with
// `,` for `/`, `-` ends the run, and `&-` is `&`. A name has one encoding, and what is not that encoding is none.

const UNPRINTABLE = /[^\x20-\x7e]+|&/g;
const ENCODED = /&([^-]*)-/g;
/** One that is half of no character. */
const SURROGATE = /\p{Cs}/u;
const PRINTABLE = /^[\x20-\x7e]*$/;

export function encodeModifiedUtf7(name: string): string {
  return name.replace(UNPRINTABLE, (run) => (run === '&' ? '&-' : `&${encodeRun(run)}-`));
}

/** Undefined when the text is not the encoding of any name. */
export function decodeModifiedUtf7(text: string): string | undefined {
  if (!text.includes('&')) return PRINTABLE.test(text) ? text : undefined;
  const name = text.replace(ENCODED, (_, run: string) => (run === '' ? '&' : decodeRun(run)));
  // What has one encoding must come out as it came in: surrogates alone, bits left over and printable runs do not.
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
