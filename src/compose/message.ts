// A message from what its sender gave: header, bodies and attachments composed by nodemailer (decision 0012) and streamed into
// the spool, so that no message is in memory as a whole beside its bodies. Everything leaves as ASCII in lines of at most 998
// octets, but for addresses that are not ASCII themselves (RFC 6532). The composer is given strings and streams of ours
// alone: an object of a client's could name a file or a URL.
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import { headerLines } from '../mail/header-lines.js';
import { type HeaderPair, isSenderField } from '../mail/header-pairs.js';
import type { IndexedAddress, MessageIndex } from '../mail/message-index.js';
import type { SpooledContent, SpoolWriter } from '../spool/spool.js';
import type { BlobStore } from '../store/blobs.js';
import { addressField, senderFields, subjectField, threadFields, UNDISCLOSED } from './header-fields.js';

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
export interface MessageToCompose {
  /** With angle brackets, as all ids here. */
  readonly messageId: string;
  readonly date: Date;
  readonly from: IndexedAddress;
  readonly to: readonly IndexedAddress[];
  readonly cc: readonly IndexedAddress[];
  /** Named in the message: empty but for a draft. */
  readonly bcc: readonly IndexedAddress[];
  readonly subject: string;
  /** An address; null for none. */
  readonly replyTo: string | null;
  /** Other fields that the sender gave (mail/header-pairs), without those of the thread. */
  readonly headers: readonly HeaderPair[];
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

/** Characters; longer bodies are handed over in pieces, so that encoding them holds nobody up. */
const PIECE = 16 * 1024;

/**
 * Ends the writer, one way or the other; what comes back is the caller's to release.
 * @throws MessageTooLarge, SpoolFault, and what an attachment's content throws
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

/** Fields of a message's writer that stay when its header is replaced, as well as those of its content. */
const KEPT_FIELDS = new Set(['mime-version', 'reply-to', 'importance', 'disposition-notification-to']);
/** Fields that are written from the fields of the email. */
const THREAD_FIELDS = new Set(['references', 'in-reply-to']);

/**
 * A composed message under another header: its content stays as it is, octet for octet. Otherwise as composeMessage.
 * `isOwn`: this server composed it; fields that its sender gave stay too. A mail program has fields of its own in its drafts.
 * @throws MessageTooLarge, SpoolFault, and what reading the message throws
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
    // The composer has no body without a single octet.
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
    // Neither a line end nor a character is cut in two.
    if (end < text.length && /[\r\ud800-\udbff]/.test(text[end - 1]!)) end--;
    yield Buffer.from(withLineEnds(text.slice(at, end)));
    at = end;
  }
}

const withLineEnds = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');

/** Base64 for what quoted-printable would make longer. */
function encodingOf(text: string): 'quoted-printable' | 'base64' {
  const sample = text.slice(0, 64 * 1024);
  const others = sample.match(/[^\t\r\n -<>-~]/g)?.length ?? 0;
  return others * 6 > sample.length ? 'base64' : 'quoted-printable';
}
