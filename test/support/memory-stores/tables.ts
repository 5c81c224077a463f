// The rows that the stores in memory share: one set of rows per account, and the mail that waits for its mailbox. Each store of this folder
// implements one port over them.

import { newId } from '../../../src/store/ids/new-id.js';
import type { PendingInbound } from '../../../src/store/inbound.js';
import type { SendingMinute } from '../../../src/store/limits/sending.js';
import type { DueMail, FilterRun, RunBatch, SieveScriptRow } from '../../../src/store/mailbox-rows.js';
import {
  type AnnotationRow,
  type EmailRow,
  type FiltersAwaitingBody,
  SYSTEM_ROLES,
} from '../../../src/store/mailbox-rows.js';
import type { FilterRow, FolderRow, RememberedReply } from '../../../src/store/mailboxes.js';
import type {
  DeliveryAttempt,
  OutboundContent,
  OutboundRecipientRow,
  OutboundRow,
  Suppression,
} from '../../../src/store/outbound.js';
import type { Choices } from '../../../src/store/preferences.js';
import { shardOf } from '../../../src/store/shard.js';
import type { FieldWords } from '../field-words.js';

export interface PlacementRow {
  readonly emailId: string;
  readonly isDeleted: boolean;
  readonly modseq: number;
  /** Present when the time differs from the one in the email's id. */
  readonly savedAt?: number;
}

export interface OutboundRecord {
  readonly row: Omit<OutboundRow, 'recipients'>;
  readonly recipients: Map<string, { readonly position: number; readonly recipient: OutboundRecipientRow }>;
  content: OutboundContent | undefined;
  readonly attempts: Map<string, DeliveryAttempt>;
}

export class AccountRows {
  readonly id: string;
  readonly email: string;
  readonly isUnclaimed: boolean;
  readonly shard: number;
  epoch = 0;
  modseq = 1;
  readonly folders = new Map<string, FolderRow>();
  readonly emails = new Map<string, EmailRow>();
  /** Keyed by folder and UID. */
  readonly placements = new Map<string, Map<number, PlacementRow>>();
  expunged: { readonly folderId: string; readonly uid: number; readonly modseq: number }[] = [];
  /** Keyed by folder and name. */
  readonly annotations = new Map<string, AnnotationRow>();
  readonly filters = new Map<string, FilterRow>();
  preferences: Choices | undefined;
  /** Keyed by email. */
  readonly deferred = new Map<string, FiltersAwaitingBody>();
  readonly filterRuns = new Map<string, FilterRun>();
  readonly dueMail = new Map<string, DueMail>();
  /** Keyed by run and number. */
  readonly filterRunBatches = new Map<string, RunBatch>();
  readonly sieveScripts = new Map<string, SieveScriptRow>();
  activeSieveScript: string | null = null;
  /** Threads by message id, and by the id of a thread that was joined with another. */
  readonly threads = new Map<string, string>();
  readonly outbound = new Map<string, OutboundRecord>();
  readonly vacationAnswered = new Map<string, number>();
  readonly sieveKeys = new Map<string, number>();
  readonly suppressions = new Map<string, Suppression>();
  readonly sentMinutes = new Map<number, SendingMinute>();
  readonly knownRecipients = new Set<string>();
  remembered: (RememberedReply & { readonly at: number })[] = [];
  events: {
    readonly seq: number;
    readonly at: number;
    readonly entries: { readonly type: string; readonly payload: unknown }[];
  }[] = [];
  readonly words = new Map<string, FieldWords>();
  /** The number of emails of each segment of the search index. */
  readonly segments: number[] = [];
  /** Emails up to this id are searchable. */
  searchableUpTo = '';

  constructor(id: string, email: string, held: boolean, shard: number) {
    this.id = id;
    this.email = email;
    this.isUnclaimed = held;
    this.shard = shard;
  }

  /** Returns the emails of a folder, except those with `\Deleted` in it. */
  emailsOf(folderId: string): readonly EmailRow[] {
    return [...(this.placements.get(folderId)?.values() ?? [])].flatMap(({ emailId, isDeleted }) =>
      isDeleted ? [] : (this.emails.get(emailId) ?? []),
    );
  }
}

export type WaitingMail = PendingInbound & { readonly at: number };

export interface NewAccount {
  readonly id?: string;
  readonly email?: string;
  readonly held?: boolean;
  /** The six system folders, if they must be those of another store. */
  readonly folders?: readonly FolderRow[];
}

export class MemoryTables {
  readonly accounts = new Map<string, AccountRows>();
  /** Keyed by the id of the row. */
  readonly inbound = new Map<string, WaitingMail>();
  readonly shards: number;

  constructor(shards = 1) {
    this.shards = shards;
  }

  addAccount({ id = newId(), email = `${id}@example.test`, held = false, folders = systemFolders() }: NewAccount = {}) {
    const account = new AccountRows(id, email, held, shardOf(id, this.shards));
    for (const row of folders) account.folders.set(row.id, row);
    this.accounts.set(id, account);
    return account;
  }

  /** Returns an account without rows when there is no such account. */
  of(accountId: string): AccountRows {
    return this.accounts.get(accountId) ?? new AccountRows(accountId, '', false, 0);
  }
}

/** `idOf` returns the ids for the numbers from 1 on. */
export function systemFolders(idOf: (n: number) => string = newId): FolderRow[] {
  const createdAt = Date.now();
  return SYSTEM_ROLES.map((role, i) => ({
    id: idOf(i + 1),
    role,
    name: role === 'inbox' ? 'INBOX' : `${role[0]!.toUpperCase()}${role.slice(1)}`,
    color: null,
    sortOrder: i + 1,
    isSubscribed: true,
    uidValidity: Math.floor(createdAt / 1000),
    createdAt,
    uidNext: 1,
    total: 0,
    unread: 0,
    highestModseq: 0,
  }));
}

/** Returns the value as it is after it was stored as JSON. */
export function storedJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Compares for sorting; texts by their code units. */
export function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
