// What the server has of a draft, next to what a window has sent: whether they are the same, and what a refusal says of it.
import { type Draft, type DraftInput, type MansioClient, NetworkFault, Refusal } from '../../../src/client/index.js';

/** A version of a draft on the server. */
export interface StoredVersion {
  readonly draft: Draft;
  readonly etag: string;
}

/** What a save has sent, as far as it tells versions apart; without the contents of files. */
export interface SentVersion {
  readonly subject: string;
  /** The length and a hash: the journal has no room for texts that are only compared. */
  readonly html: string;
  readonly recipients: string;
  readonly files: number;
}

/** How many saves without an answer are remembered, newest last. */
const REMEMBERED = 4;

export function withVersion(versions: readonly SentVersion[], input: DraftInput): readonly SentVersion[] {
  const { subject, htmlBody, recipients, attachments } = input;
  const version = {
    subject: textOf(subject),
    html: digestOf(textOf(htmlBody)),
    recipients: peopleOf(recipients),
    files: (attachments ?? []).length,
  };
  const others = versions.filter((each) => JSON.stringify(each) !== JSON.stringify(version));
  return [...others, version].slice(-REMEMBERED);
}

const textOf = (value: string | null | undefined): string => (value ?? '').replace(/\r\n/g, '\n').trim();
const peopleOf = (list: DraftInput['recipients']): string =>
  (list ?? []).map(({ type, address }) => `${type} ${address}`).join();

/** FNV-1a of 32 bits beside the length: two versions of one draft are told apart, no enemy's texts. */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return `${text.length}.${(hash >>> 0).toString(36)}`;
}

/** How many of the newest drafts are looked at. */
const LOOKED_AT = 5;

/** The draft that an earlier save has made, if it has: its answer was not heard. */
export async function findDraft(
  client: MansioClient,
  sent: readonly SentVersion[],
): Promise<StoredVersion | undefined> {
  const query = { page: 1, pageSize: LOOKED_AT };
  const { items } = await client.request('GET', '/api/outbound/drafts', { query });
  for (const { id, subject } of items) {
    const found = sent.some((each) => each.subject === textOf(subject)) ? await client.drafts.read(id) : undefined;
    if (found !== undefined && isOneOf(sent, found.draft)) return found;
  }
  return undefined;
}

/** Whether an error goes away by itself. */
export const isPassing = (error: unknown): boolean =>
  error instanceof NetworkFault || (error instanceof Refusal && (error.status === 429 || error.status >= 502));

/** The places of stored files belong to a version of the draft: a refusal that names them may mean another version. */
export const namesOldFiles = (error: unknown): boolean =>
  error instanceof Refusal &&
  Object.keys(error.errors).some((field) => /^attachments\[\d+\]\.attachmentId$/.test(field));

/** Whether the server stores what one of these saves has sent. */
export const isOneOf = (sent: readonly SentVersion[], draft: Draft): boolean =>
  sent.some(
    ({ subject, html, recipients, files }) =>
      digestOf(textOf(draft.htmlBody)) === html &&
      textOf(draft.subject) === subject &&
      peopleOf(draft.recipients) === recipients &&
      draft.attachments.length === files,
  );
