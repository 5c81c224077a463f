// What the server has of a draft, next to what a window has sent: whether they are the same, and what a refusal says of it.
import { type Draft, type DraftInput, type MansioClient, NetworkFault, Refusal } from '../../../src/client/index.js';

/** A version of a draft on the server. */
export interface StoredVersion {
  readonly draft: Draft;
  readonly etag: string;
}

/** How many of the newest drafts are looked at. */
const LOOKED_AT = 5;

/** The draft that an earlier save has made, if it has: its answer was not heard. */
export async function findDraft(client: MansioClient, sent: DraftInput): Promise<StoredVersion | undefined> {
  const query = { page: 1, pageSize: LOOKED_AT };
  const { items } = await client.request('GET', '/api/outbound/drafts', { query });
  for (const { id, subject } of items) {
    const found = subject === sent.subject ? await client.drafts.read(id) : undefined;
    if (found !== undefined && isSame(found.draft, sent)) return found;
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

/** Whether the server stores what a save has sent. */
export function isSame(draft: Draft, sent: DraftInput): boolean {
  const text = (value: string | null | undefined) => (value ?? '').replace(/\r\n/g, '\n').trim();
  const people = (list: DraftInput['recipients']) =>
    (list ?? []).map(({ type, address }) => `${type} ${address}`).join();
  return (
    text(draft.htmlBody) === text(sent.htmlBody) &&
    text(draft.subject) === text(sent.subject) &&
    people(draft.recipients) === people(sent.recipients) &&
    draft.attachments.length === (sent.attachments ?? []).length
  );
}
