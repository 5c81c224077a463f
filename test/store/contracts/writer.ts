// Implements an owner of one account's mailbox, who commits lists of changes to a store, and makes the records of these lists.
import { randomUUID } from 'node:crypto';
import { PackedIds } from '../../../src/mail-format/packed-ids.js';
import type { ChangeContent, NewEmail } from '../../../src/store/changes/changes.js';
import { newId } from '../../../src/store/ids/new-id.js';
import type { FolderDefinition, FolderRow, Placement, SystemRole } from '../../../src/store/mailbox-rows.js';
import type { CommitResult, MailboxChange } from '../../../src/store/mailboxes.js';
import type { OutboundRow } from '../../../src/store/outbound.js';
import { emptyChange, records } from '../../support/mailbox-change.js';
import type { Stores } from './stores.js';

export const T0 = Date.UTC(2026, 0, 1);
export const BLOB = 'ab'.repeat(32);

export class Writer {
  readonly accountId: string;
  readonly roles: Readonly<Record<string, string>>;
  epoch = 1;
  modseq = 1;

  readonly #stores: Pick<Stores, 'mailboxes'>;

  constructor(stores: Pick<Stores, 'mailboxes'>, accountId: string, folders: readonly FolderRow[]) {
    this.#stores = stores;
    this.accountId = accountId;
    this.roles = Object.fromEntries(folders.map(({ role, id }) => [role, id]));
  }

  folder(role: SystemRole): string {
    return this.roles[role]!;
  }

  async commit(contents: readonly ChangeContent[], more: Partial<MailboxChange> & { at?: number } = {}) {
    const { at = T0, ...parts } = more;
    const change = emptyChange(this.accountId, this.epoch, this.modseq);
    const after = parts.modseqAfter ?? change.modseqAfter;
    const result: CommitResult = await this.#stores.mailboxes.commit({
      ...change,
      changes: records(contents, after, at),
      ...parts,
    });
    if (result.kind === 'committed') this.modseq = after;
    return result;
  }

  /** Adds an email to the inbox, or to `placements`. */
  async add(parts: Partial<NewEmail> = {}, placements?: readonly Placement[]): Promise<NewEmail> {
    const email = newEmail(parts);
    const uid = this.modseq + 1;
    await this.commit([emailAdded(email, placements ?? [{ folderId: this.folder('inbox'), uid }])]);
    return email;
  }
}

export async function openWriter(stores: Stores): Promise<Writer> {
  const accountId = await stores.account();
  await stores.mailboxes.claim(accountId, 1);
  return new Writer(stores, accountId, (await stores.mailboxes.overview(accountId)).folders);
}

export function newEmail(parts: Partial<NewEmail> = {}): NewEmail {
  const id = parts.id ?? newId();
  return {
    id,
    blob: BLOB,
    threadId: id,
    messageId: `<${id}@remote.test>`,
    inReplyTo: null,
    references: [],
    fromAddress: 'ann@remote.test',
    fromIsEnvelopeSender: false,
    hasAuthenticationResults: false,
    fromName: 'Ann',
    subject: 'subject',
    preview: 'preview',
    receivedAt: T0,
    size: 100,
    hasAttachments: false,
    attachmentCount: 0,
    flags: 0,
    keywords: [],
    origin: null,
    ...parts,
  };
}

export function emailAdded(email: NewEmail, placements: readonly Placement[]): ChangeContent {
  return { type: 'EmailAdded', payload: { email, placements, isNew: true } };
}

/** Returns one record with packed ids. */
export function flaggedTogether(
  [emailId, ...others]: readonly string[],
  flags: number,
  keywords?: readonly string[],
): ChangeContent {
  const named = keywords === undefined ? {} : { keywords };
  const payload = { emailId: emailId!, flags, changed: flags, others: PackedIds.of(others), ...named };
  return { type: 'FlagsChanged', payload };
}

export function newFolder(parts: Partial<FolderDefinition> = {}): FolderDefinition {
  const id = parts.id ?? newId();
  return {
    id,
    role: 'folder',
    name: id,
    color: null,
    sortOrder: 0,
    isSubscribed: true,
    uidValidity: 7,
    createdAt: T0,
    ...parts,
  };
}

export function recipient(address: string): OutboundRow['recipients'][number] {
  return {
    id: randomUUID(),
    address,
    displayName: null,
    type: 'To',
    status: 'Pending',
    domain: address.slice(address.indexOf('@') + 1),
    deliveredAt: null,
    lastError: null,
    statusCode: null,
  };
}

export function outboundEmail(parts: Partial<OutboundRow> = {}): OutboundRow {
  return {
    id: newId(),
    status: 'Queued',
    blob: BLOB,
    sender: 'me@example.test',
    subject: 'subject',
    messageId: '<1@example.test>',
    inReplyTo: null,
    references: ['<0@example.test>'],
    size: 10,
    emailId: newId(),
    createdAt: T0,
    updatedAt: T0,
    queuedAt: T0,
    sentAt: null,
    retryCount: 0,
    nextRetryAt: T0,
    heldUntil: null,
    lastError: null,
    attempt: null,
    dsnDue: null,
    dsnAt: null,
    dsn: null,
    delayReported: false,
    awaitsRelease: false,
    machine: { value: 'Queued' },
    recipients: ['b@two.test', 'a@one.test'].map(recipient),
    ...parts,
  };
}
