// The text of one part as mailparser reads it, given to mailparser as a message of that one part. Runs in the decoding
// thread, whose budget bounds it. Parts that mailparser would be slow with are left to our own decoders.
import { MailParser, type MessageText } from 'mailparser';
import { endOfBase64 } from '../mail/decode/base64.js';
import { charsetOfMailparser } from '../mail/decode/charset.js';
import { type TextPart, textOfCharacters, textOfOctets } from '../mail/decode/part-text.js';
import { isEncoded } from '../mail/decode/transfer.js';
import { isUuencode } from '../mail/decode/uuencode.js';

/** Octets of a part: mailparser takes about 10 ms for so many of text, and 140 ms for so many line feeds. */
const MOST_OCTETS = 1024 * 1024;
/** Quoted-printable has no longer lines (RFC 2045 §6.7); libqp takes quadratic time for a run of white space. */
const LONGEST_SPACE = 76;

/** No conversion: only the text or the HTML as it was written. */
const OPTIONS = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, skipImageLinks: true };

/** Undefined for a part that is left to our own decoders. Never rejects. */
export async function mailparserText(part: TextPart, bytes: Uint8Array): Promise<string | undefined> {
  if (bytes.length > MOST_OCTETS || part.within !== undefined || isUuencode(part.encoding)) return undefined;
  if (part.encoding === 'quoted-printable' && hasLongSpace(bytes)) return undefined;
  const charset = charsetOfMailparser(part.params['charset']);
  try {
    // In the charset `binary` a character is an octet.
    const data = part.encoding === 'base64' ? bytes.subarray(0, endOfBase64(bytes)) : bytes;
    const text = await parse(headerOf(part, charset ?? 'binary'), data);
    return charset === undefined ? textOfOctets(part, Buffer.from(text, 'latin1')) : textOfCharacters(part, text);
  } catch {
    return undefined;
  }
}

/** The name of a known charset is the only text in the header that a peer has chosen. */
function headerOf({ subtype, encoding }: TextPart, charset: string): string {
  return (
    `Content-Type: text/${subtype === 'html' ? 'html' : 'plain'}; charset="${charset}"\r\n` +
    `Content-Transfer-Encoding: ${isEncoded(encoding) ? encoding : '8bit'}\r\n\r\n`
  );
}

function parse(header: string, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const parser = new MailParser(OPTIONS);
    let text: string | undefined;
    parser.on('data', (data: MessageText) => {
      if (data.type === 'text') text = typeof data.html === 'string' ? data.html : data.text;
    });
    parser.once('error', (error) => {
      reject(error);
      parser.destroy();
    });
    parser.once('end', () => resolve(text ?? ''));
    parser.write(header);
    parser.end(bytes);
  });
}

/** Looks at every 77th octet: a longer run of spaces and tabs has one of them. */
function hasLongSpace(bytes: Uint8Array): boolean {
  for (let at = LONGEST_SPACE; at < bytes.length; at += LONGEST_SPACE + 1) {
    if (!isSpace(bytes[at])) continue;
    let start = at;
    let end = at + 1;
    while (isSpace(bytes[start - 1])) start--;
    while (isSpace(bytes[end])) end++;
    if (end - start > LONGEST_SPACE) return true;
  }
  return false;
}

function isSpace(octet: number | undefined): boolean {
  return octet === 0x20 || octet === 0x09;
}
