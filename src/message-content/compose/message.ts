// Composes a message from its sender's values: nodemailer writes header, bodies and attachments (decision 0012), and they are streamed into
// the spool, so that no message is in memory as a whole in addition to its bodies. Everything is sent as ASCII in lines of at most 998
// octets, except non-ASCII addresses (RFC 6532). The composer gets only Mansio's strings and streams: an object from a client could name a
// file or a URL.
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import { headerLines } from '../../mail-format/header/header-lines.js';
import { type HeaderPair, isSenderField } from '../../mail-format/header/header-pairs.js';
import type { IndexedAddress, MessageIndex } from '../../mail-format/message-index.js';
import type { BlobStore } from '../../store/blobs.js';
import type { SpooledContent, SpoolWriter } from '../spool/spool.js';
import { addressField, senderFields, subjectField, threadFields, UNDISCLOSED } from './header-fields.js';

export interface OutgoingAttachment {
  readonly fileName: string;
  /** The type includes parameters, if there are any. */
  readonly contentType: string;
  /** ASCII, without angle brackets. */
  readonly contentId: string | null;
  readonly inline: boolean;
  /** `7bit` for content that must not be encoded: it is ASCII in lines that end in CRLF. */
  readonly encoding: 'base64' | '7bit';
  content(): AsyncIterable<Uint8Array>;
}

/** Texts have no control characters except those of a body's layout; addresses are valid. */
export interface MessageToCompose {
  /** The id has angle brackets, like all ids here. */
  readonly messageId: string;
  readonly date: Date;
  readonly from: IndexedAddress;
  readonly to: readonly IndexedAddress[];
  readonly cc: readonly IndexedAddress[];
  /** The recipients that the message names: empty except in a draft. */
  readonly bcc: readonly IndexedAddress[];
  readonly subject: string;
  /** An address; null when there is none. */
  readonly replyTo: string | null;
  /** The other fields that the sender gave (mail/header/header-pairs), without those of the thread. */
  readonly headers: readonly HeaderPair[];
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly attachments: readonly OutgoingAttachment[];
}

/** Thrown when the message would exceed the size limit. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';
}

/** Bodies with more characters are passed on in pieces, so that encoding them does not delay other work. */
const PIECE = 16 * 1024;

/**
 * Always ends the writer; the caller releases the returned content. @throws MessageTooLarge, SpoolFault, and what an attachment's content
 * throws
 */
export function composeMessage(
  message: MessageToCompose,
  writer: SpoolWriter,
  maxSize: number,
): Promise<SpooledContent> {
  return written(writer, maxSize, async (write) => {
    await write(Buffer.from(header(message) + givenFields(message)));
    const streams: Readable[] = [];
    const composed = composer(message, streams).compile().createReadStream();
    try {
      for await (const piece of composed) await write(piece as Buffer);
    } finally {
      composed.destroy();
      for (const stream of streams) stream.destroy();
    }
  });
}

type NewHeader = Pick<
  MessageToCompose,
  'messageId' | 'date' | 'from' | 'to' | 'cc' | 'bcc' | 'subject' | 'inReplyTo' | 'references'
>;

/** The fields of the writing program that stay when the header is replaced, in addition to those of the content. */
const KEPT_FIELDS = new Set(['mime-version', 'reply-to', 'importance', 'disposition-notification-to']);
/** The fields that are written from the fields of the email. */
const THREAD_FIELDS = new Set(['references', 'in-reply-to']);

/**
 * Writes a composed message with another header; its content stays the same octet for octet. Otherwise like composeMessage. `isOwn`: this
 * server composed the message, so fields that its sender gave stay too; the drafts of a mail program have fields of the program. @throws
 * MessageTooLarge, SpoolFault, and what reading the message throws
 */
export function readdressMessage(
  message: NewHeader,
  { blobs, blob, index, isOwn }: ComposedMessage,
  writer: SpoolWriter,
  maxSize: number,
): Promise<SpooledContent> {
  return written(writer, maxSize, async (write) => {
    const before = Buffer.from(await blobs.read(blob, 0, index.root.bodyStart));
    const date = message.date.toUTCString().replace('GMT', '+0000');
    const ids = `Message-ID: ${message.messageId}\r\n${threadFields(message)}`;
    await write(Buffer.from(`${header(message)}${ids}Date: ${date}\r\n`));
    for (const { name, start, end } of headerLines(before)) {
      const isGiven = isOwn && isSenderField(name) && !THREAD_FIELDS.has(name);
      if (isGiven || KEPT_FIELDS.has(name) || name.startsWith('content-')) await write(before.subarray(start, end));
    }
    await write(Buffer.from('\r\n'));
    for await (const piece of blobs.stream(blob, index.root.bodyStart, index.size)) await write(piece);
  });
}

export interface ComposedMessage {
  readonly blobs: Pick<BlobStore, 'read' | 'stream'>;
  readonly blob: string;
  readonly index: MessageIndex;
  readonly isOwn: boolean;
}

async function written(
  writer: SpoolWriter,
  maxSize: number,
  compose: (write: (piece: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<SpooledContent> {
  let size = 0;
  try {
    await compose(async (piece) => {
      size += piece.length;
      if (size > maxSize) throw new MessageTooLarge();
      await writer.write(piece);
    });
  } catch (error) {
    writer.discard();
    throw error;
  }
  return writer.finish();
}

const header = ({ from, to, cc, bcc, subject }: NewHeader): string =>
  addressField('From', [from]) +
  (to.length + cc.length === 0 ? UNDISCLOSED : addressField('To', to) + addressField('Cc', cc)) +
  addressField('Bcc', bcc) +
  subjectField(subject);

const givenFields = ({ replyTo, headers }: MessageToCompose): string =>
  (replyTo === null ? '' : addressField('Reply-To', [{ name: '', address: replyTo }])) + senderFields(headers);

function composer(message: MessageToCompose, streams: Readable[]): MailComposer {
  const { messageId, date, inReplyTo, references, textBody, htmlBody, attachments } = message;
  const opened = (source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Readable => {
    const stream = Readable.from(source, { objectMode: false });
    streams.push(stream);
    return stream;
  };
  const body = (text: string) => {
    // The composer writes no empty body.
    if (text.length <= PIECE) return { content: withLineEnds(text) || '\r\n' };
    return { content: opened(pieces(text)), contentTransferEncoding: encodingOf(text) };
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

function* pieces(text: string): Iterable<Buffer> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + PIECE, text.length);
    // Neither a line end nor a character is divided.
    if (end < text.length && /[\r\ud800-\udbff]/.test(text[end - 1]!)) end--;
    yield Buffer.from(withLineEnds(text.slice(at, end)));
    at = end;
  }
}

const withLineEnds = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');

/** Returns base64 for text that quoted-printable would make longer. */
function encodingOf(text: string): 'quoted-printable' | 'base64' {
  const sample = text.slice(0, 64 * 1024);
  const others = sample.match(/[^\t\r\n -<>-~]/g)?.length ?? 0;
  return others * 6 > sample.length ? 'base64' : 'quoted-printable';
}
