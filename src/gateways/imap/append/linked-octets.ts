// Reads the octets that a URL in CATENATE names (RFC 4469, RFC 5092): a message of the account or a part of it.
import { FieldNames, headerFields, partOfRange, sectionRange } from '../../../mail-format/body-section.js';
import type { OctetRange } from '../../../mail-format/message-index.js';
import { no, Refused } from '../completion.js';
import { type MessageUrl, messageUrl } from '../grammar/message-url.js';
import { folderReference } from '../mailboxes/account-folders.js';
import type { Message } from '../messages/message-source.js';
import type { Session } from '../session.js';

export interface LinkedOctets {
  readonly size: number;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Octets of a header from which single fields are selected. */
const LONGEST_HEADER = 1_048_576;
/** Characters that a response code must not contain. */
const UNPRINTABLE = /[^\x21-\x5c\x5e-\x7e]/g;

/** @throws Refused when the URL names nothing that exists; ActorFault, StoreFault */
export async function linkedOctets(session: Session, text: string): Promise<LinkedOctets> {
  const url = messageUrl(text);
  const message = url === undefined ? undefined : await messageOf(session, url);
  const octets = message === undefined ? undefined : await octetsOf(session, message, url!);
  if (octets !== undefined) return octets;
  throw new Refused(no('The URL names no message or part', `BADURL ${text.replace(UNPRINTABLE, escaped)}`));
}

async function messageOf(session: Session, { server, mailbox, uidValidity, uid }: MessageUrl) {
  if (server !== undefined && !isOwn(session, server)) return undefined;
  const folder = await folderOf(session, mailbox);
  if (folder === undefined || (uidValidity !== undefined && uidValidity !== folder.uidValidity)) return undefined;
  const { context, accountId } = session;
  const [message] = await context.messages.read({ accountId, folderId: folder.id }, [uid], { index: true });
  return message;
}

/** Tells whether a URL with the name of a server means this server and this user. */
function isOwn({ context, login }: Session, { user, host }: NonNullable<MessageUrl['server']>): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  const isUser = user === undefined || user.toLowerCase() === login.principal.email.toLowerCase();
  return name === context.hostname.toLowerCase() && isUser;
}

async function folderOf(session: Session, mailbox: string | undefined) {
  const id = mailbox === undefined ? session.selected?.folderId : await existing(session, mailbox);
  if (id === undefined) return undefined;
  const { context, accountId } = session;
  const { reply } = await context.mailboxes.of(accountId).ask('folderStatus', { folderIds: [id] });
  return reply?.folders[0];
}

async function existing(session: Session, mailbox: string): Promise<string | undefined> {
  try {
    return await folderReference(session, mailbox);
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** Returns undefined when the message has no such section. */
async function octetsOf(session: Session, message: Message, url: MessageUrl): Promise<LinkedOctets | undefined> {
  const { section, partial } = url;
  const { blobs } = session.context;
  const whole: OctetRange = { start: 0, end: message.size };
  const range = section === undefined ? whole : sectionRange(message.index.root, section);
  if (range === undefined) return undefined;
  const { offset, length = Number.POSITIVE_INFINITY } = partial ?? { offset: 0 };
  if (section !== undefined && section.fields.length > 0) {
    if (range.end - range.start > LONGEST_HEADER) return undefined;
    const header = Buffer.from(await blobs.read(message.blob, range.start, range.end));
    const names = new FieldNames(section.fields);
    const fields = Buffer.from(headerFields(header, names, section.text === 'HEADER.FIELDS'), 'latin1');
    const wanted = fields.subarray(offset, offset + length);
    return { size: wanted.length, chunks: [wanted] };
  }
  const { start, end } = partOfRange(range, offset, length);
  return { size: end - start, chunks: blobs.stream(message.blob, start, end) };
}

const escaped = (character: string): string =>
  [...Buffer.from(character, 'utf8')].map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`).join('');
