// The text of one part as mailparser reads it: mailparser gets a message that has only this part. This code runs in the decoding
// thread, whose budget bounds it. It leaves parts that mailparser reads slowly to our own decoders.
import { MailParser, type MessageText } from 'mailparser';
import { endOfBase64 } from '../../mail-format/decode/base64.js';
import { charsetOfMailparser } from '../../mail-format/decode/charset.js';
import { type TextPart, textOfCharacters, textOfOctets } from '../../mail-format/decode/part-text.js';
import { isEncoded } from '../../mail-format/decode/transfer.js';
import { isUuencode } from '../../mail-format/decode/uuencode.js';

/** Octets of a part: mailparser takes about 10 ms for this much text, and 140 ms for this many line feeds. */
const MOST_OCTETS = 1024 * 1024;
/** Quoted-printable lines are at most this long (RFC 2045 §6.7); libqp takes quadratic time for a run of white space. */
const LONGEST_SPACE = 76;

/** Switch off all conversions: we need the text or the HTML as it was written. */
const OPTIONS = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, skipImageLinks: true };

/** Undefined for a part that is left to our own decoders. Never rejects. */
export async function mailparserText(part: TextPart, bytes: Uint8Array): Promise<string | undefined> {
  if (bytes.length > MOST_OCTETS || part.within !== undefined || isUuencode(part.encoding)) return undefined;
  if (part.encoding === 'quoted-printable' && hasLongSpace(bytes)) return undefined;
  const charset = charsetOfMailparser(part.params['charset']);
  try {
    // A character of the charset `binary` is one octet.
    const data = part.encoding === 'base64' ? bytes.subarray(0, endOfBase64(bytes)) : bytes;
    const text = await parse(headerOf(part, charset ?? 'binary'), data);
    return charset === undefined ? textOfOctets(part, Buffer.from(text, 'latin1')) : textOfCharacters(part, text);
  } catch {
    return undefined;
  }
}

/** The header contains no text that a peer chose, except the name of a known charset. */
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

/** This looks at every 77th octet: each run of spaces and tabs that is too long contains one of them. */
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
