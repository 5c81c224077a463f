// A message from what its sender gave: header, bodies and attachments composed by nodemailer (DESIGN D12) and streamed into
// the spool, so that no message is in memory as a whole beside its bodies. Everything leaves as ASCII in lines of at most 998
// octets, but for addresses that are not ASCII themselves (RFC 6532). The composer is given strings and streams of ours
// alone: an object of a client's could name a file or a URL.
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import type { IndexedAddress } from '../../mail/message-index.js';
import type { SpooledContent, SpoolWriter } from '../spool/spool.js';
import { addressField, subjectField, UNDISCLOSED } from './header-fields.js';

export interface OutgoingAttachment {
  readonly fileName: string;
  /** With parameters, if any. */
  readonly contentType: string;
  /** Without angle brackets; ASCII. */
  readonly contentId: string | null;
  readonly inline: boolean;
  /** `7bit` for what must not be encoded: it is ASCII in lines that end in CRLF. */
  readonly encoding: 'base64' | '7bit';
  content(): AsyncIterable<Uint8Array>;
}

/** Texts are without control characters but for those of a body's layout; addresses are valid. */
export interface OutgoingMessage {
  /** With angle brackets, as all ids here. */
  readonly messageId: string;
  readonly date: Date;
  readonly from: IndexedAddress;
  readonly to: readonly IndexedAddress[];
  readonly cc: readonly IndexedAddress[];
  readonly subject: string;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly attachments: readonly OutgoingAttachment[];
}

/** The message would have more octets than a message may have. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';
}

/** Longer bodies are handed over in pieces, so that encoding them holds nobody up. */
const PIECE_OCTETS = 64 * 1024;

/**
 * Ends the writer, one way or the other; what comes back is the caller's to release.
 * @throws MessageTooLarge, SpoolFault, and what an attachment's content throws
 */
export async function composeMessage(
  message: OutgoingMessage,
  writer: SpoolWriter,
  maxSize: number,
): Promise<SpooledContent> {
  let size = 0;
  const write = async (piece: Uint8Array): Promise<void> => {
    size += piece.length;
    if (size > maxSize) throw new MessageTooLarge();
    await writer.write(piece);
  };
  try {
    await write(Buffer.from(header(message)));
    const streams: Readable[] = [];
    const composed = composer(message, streams).compile().createReadStream();
    try {
      for await (const piece of composed) await write(piece as Buffer);
    } finally {
      composed.destroy();
      for (const stream of streams) stream.destroy();
    }
  } catch (error) {
    writer.discard();
    throw error;
  }
  return writer.finish();
}

const header = ({ from, to, cc, subject }: OutgoingMessage): string =>
  addressField('From', [from]) +
  (to.length + cc.length === 0 ? UNDISCLOSED : addressField('To', to) + addressField('Cc', cc)) +
  subjectField(subject);

function composer(message: OutgoingMessage, streams: Readable[]): MailComposer {
  const { messageId, date, inReplyTo, references, textBody, htmlBody, attachments } = message;
  const opened = (source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Readable => {
    const stream = Readable.from(source, { objectMode: false });
    streams.push(stream);
    return stream;
  };
  const body = (text: string) => {
    // The composer has no body without a single octet.
    const lines = text.replace(/\r\n?|\n/g, '\r\n') || '\r\n';
    if (lines.length <= PIECE_OCTETS) return { content: lines };
    return { content: opened(pieces(Buffer.from(lines))), contentTransferEncoding: encodingOf(lines) };
  };
  return new MailComposer({
    messageId,
    date,
    ...(inReplyTo !== null && { inReplyTo }),
    ...(references.length > 0 && { references: references.join(' ') }),
    ...(textBody !== null && { text: body(textBody) }),
    ...(htmlBody !== null && { html: body(htmlBody) }),
    attachments: attachments.map(({ fileName, contentType, contentId, inline, encoding, content }) => ({
      filename: fileName,
      contentType,
      contentDisposition: inline ? 'inline' : 'attachment',
      contentTransferEncoding: encoding,
      ...(contentId !== null && { cid: contentId }),
      content: opened(content()),
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function* pieces(octets: Buffer): Iterable<Buffer> {
  for (let at = 0; at < octets.length; at += PIECE_OCTETS) yield octets.subarray(at, at + PIECE_OCTETS);
}

/** Base64 for what quoted-printable would make longer. */
function encodingOf(text: string): 'quoted-printable' | 'base64' {
  const sample = text.slice(0, PIECE_OCTETS);
  const others = sample.match(/[^\t\r\n -<>-~]/g)?.length ?? 0;
  return others * 6 > sample.length ? 'base64' : 'quoted-printable';
}
