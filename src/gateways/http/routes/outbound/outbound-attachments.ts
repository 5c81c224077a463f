// The attachments that a client adds to an email: files in the request, and attachments of stored emails, which do not travel to the client
// and back.
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import type { IndexedAttachment, IndexedPart, MessageIndex } from '../../../../mail-format/message-index.js';
import { attachmentPart } from '../../../../mail-format/writing/attachment-content.js';
import { attachmentKind, copiedAttachment } from '../../../../message-content/compose/copied-attachments.js';
import type { OutgoingAttachment } from '../../../../message-content/compose/message.js';
import type { BlobStore } from '../../../../store/blobs.js';
import type { FieldErrors } from '../../../problem-details.js';
import type { Upload } from '../../pipeline/uploads.js';
import { invalid, type Problem } from '../../problem.js';
import { attachmentId, versionOf } from '../emails/email-detail.js';
import { messageTooLarge } from './outbound-sending.js';
import type { AttachmentInput } from './outbound-shapes.js';

interface Sources {
  readonly mailboxes: Mailboxes;
  readonly blobs: Pick<BlobStore, 'index' | 'stream'>;
  readonly maxMessageSize: number;
}

/** A message of the account. */
interface Source {
  /** The id of the email, or the version of outbound mail. */
  readonly id: string;
  readonly blob: string;
  readonly index: MessageIndex;
}

interface Found {
  /** The size in octets. */
  readonly size: number;
  make(): Promise<OutgoingAttachment>;
}

/** A problem names the faulty fields: `attachments[0].content`. @throws Problem 413, StoreFault */
export async function attachmentsOf(
  sources: Sources,
  accountId: string,
  given: readonly AttachmentInput[] | null | undefined,
): Promise<readonly OutgoingAttachment[] | Problem> {
  const errors: Record<string, string[]> = {};
  const found: Found[] = [];
  const read = new Map<string, Promise<Source | undefined>>();
  const sourceOf = (emailId: string): Promise<Source | undefined> => {
    const source = read.get(emailId) ?? messageOf(sources, accountId, emailId);
    read.set(emailId, source);
    return source;
  };
  for (const [i, input] of (given ?? []).entries()) {
    const one = await find(input, sources, sourceOf);
    if (isFound(one)) found.push(one);
    else for (const [field, messages] of Object.entries(one)) errors[`attachments[${i}].${field}`] = [...messages];
  }
  if (Object.keys(errors).length > 0) return invalid(errors);
  const octets = found.reduce((sum, { size }) => sum + size, 0);
  if (octets > sources.maxMessageSize) throw messageTooLarge(sources.maxMessageSize);
  const attachments: OutgoingAttachment[] = [];
  for (const one of found) attachments.push(await one.make());
  return attachments;
}

const isFound = (one: Found | FieldErrors): one is Found => typeof one.size === 'number';

async function find(
  input: AttachmentInput,
  { blobs }: Sources,
  sourceOf: (emailId: string) => Promise<Source | undefined>,
): Promise<Found | FieldErrors> {
  const { fileName, content, emailId, attachmentId: wanted } = input;
  if (content != null) {
    if (emailId != null || wanted != null) return { content: ['must not stand beside emailId and attachmentId'] };
    if (!fileName) return { fileName: [fileName === '' ? 'must not be empty' : 'is required'] };
    return { size: content.size, make: () => uploaded(input, fileName, content) };
  }
  if (emailId == null && wanted == null) return { content: ['is required'] };
  if (emailId == null || wanted == null) return { [emailId == null ? 'emailId' : 'attachmentId']: ['is required'] };
  const source = await sourceOf(emailId);
  if (source === undefined) return { emailId: ['names no email of the account'] };
  const { id, blob, index } = source;
  const entry = index.attachments.find((one) => attachmentId(id, one.section) === wanted);
  const part = entry && attachmentPart(index, entry);
  if (entry === undefined || part === undefined) return { attachmentId: ['names no attachment of this email'] };
  return { size: entry.size, make: () => copied(input, blobs, blob, entry, part) };
}

async function uploaded(
  { contentType, contentId = null }: AttachmentInput,
  fileName: string,
  upload: Upload,
): Promise<OutgoingAttachment> {
  const [type = '', ...params] = (contentType ?? 'application/octet-stream').split(';').map((part) => part.trim());
  const content = () => upload.chunks();
  const kind = await attachmentKind(type.toLowerCase(), namedValues(params), content);
  return { fileName, contentId, inline: contentId !== null, content, ...kind };
}

/** Reads parameters such as `charset="utf-8"` and `method=REQUEST`. */
function namedValues(params: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const param of params) {
    const [, name, value] = /^(charset|method)="?([^"]*)"?$/i.exec(param) ?? [];
    if (name !== undefined && value !== undefined) values[name.toLowerCase()] ??= value;
  }
  return values;
}

async function copied(
  { fileName, contentId }: AttachmentInput,
  blobs: Sources['blobs'],
  blob: string,
  entry: IndexedAttachment,
  part: IndexedPart,
): Promise<OutgoingAttachment> {
  const copy = await copiedAttachment(blobs, blob, entry, part);
  return { ...copy, ...(fileName && { fileName }), ...(contentId != null && { contentId, inline: true }) };
}

/** The message of an email, an outbound email or a draft. */
async function messageOf({ mailboxes, blobs }: Sources, accountId: string, id: string): Promise<Source | undefined> {
  const mailbox = mailboxes.of(accountId);
  const { reply } = await mailbox.ask('detail', { emailId: id });
  const blob = reply?.blob ?? (await mailbox.ask('outbound', { outboundId: id })).reply?.email.blob;
  const index = blob === undefined ? undefined : await blobs.index(blob);
  if (blob === undefined || index === undefined) return undefined;
  return { id: reply === undefined ? versionOf(id, blob) : id, blob, index };
}
