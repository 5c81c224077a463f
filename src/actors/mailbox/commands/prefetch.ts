// Reads from the store what a group of commands declares, before it is planned: rows and first placements of emails to announce, and the
// parts of messages that filters look at. Time is limited, because filters must not delay mail: if a part could not be read, the filters
// that need it are applied after the delivery.

import type { Logger } from 'pino';
import { isUuid } from '../../../mail-format/ids.js';
import type { BlobStore } from '../../../store/blobs.js';
import { clock } from '../../../store/clock.js';
import type { Placement } from '../../../store/mailbox-rows.js';
import type { EmailSummaryRow, MailboxStore } from '../../../store/mailboxes.js';
import type { MailboxQuotas } from '../../quotas/protocol.js';
import type { Quota } from '../../quotas/room.js';
import type { DeclaredReads } from '../../runtime/behavior.js';
import type { MailboxSending } from '../../sending/protocol.js';
import { type Asking, looksInside, unreadParts } from '../filters/filter-match.js';
import { factsOf, type JudgedMessage, type ReadMessage, readParts } from '../filters/filter-reads.js';
import { countInTurns } from '../filters/filter-run-scope.js';
import { type JudgedByWords, type JunkReads, type JunkSources, readForJunk } from '../junk/junk-reads.js';
import type { MailboxJunk } from '../junk/mailbox-junk.js';
import { type CopyReads, NO_COPY_READS } from '../outbound/copy-reads.js';
import type { ReservedSlots } from '../outbound/delivery-slots.js';
import {
  NO_OUTBOUND,
  type OutboundPrefetched,
  type OutboundPrefetchSources,
  type OutboundReads,
  prefetchOutbound,
} from '../outbound/prefetch.js';
import {
  prefetchSending,
  type SendingPrefetched,
  type SendingReads,
  type SendingSources,
} from '../outbound/sending-reads.js';
import type { EmailTexts } from '../search/email-texts.js';
import type { EditedForms } from '../sieve/edited-messages.js';
import { readScripted, type ScriptedMessage, type ScriptedMessages } from '../sieve/script-reads.js';
import { type EmailReads, NO_EMAIL_READS } from '../state/email-reads.js';
import type { MailboxState } from '../state/state.js';

/** What a command reads before it is planned. */
export interface CommandReads {
  /** The id of an email of which the row and the first placements are needed, and the message when filters look at it. */
  readonly announced?: string;
  /** A message whose header and body are needed when filters look at them. */
  readonly filtered?: JudgedMessage;
  /** A message that the active script judges. */
  readonly scripted?: ScriptedMessage;
  /** A message that is judged by what the account has taught. */
  readonly judged?: JudgedByWords;
  /** A filter that the command creates. */
  readonly filter?: Asking;
  /** The folder whose emails a run of a filter counts; null: all folders in its scope. */
  readonly counted?: string | null;
  readonly outbound?: OutboundReads;
  /** The command adds emails: the quota is needed. */
  readonly isAdding?: true;
  /** The command sends, or begins or ends deliveries. */
  readonly sending?: SendingReads;
}

/** The reads of a command that only adds emails. */
export const quotaToRead = (): CommandReads => ({ isAdding: true });

export interface Prefetched {
  /** Rows of emails by id. */
  readonly rows: ReadonlyMap<string, EmailSummaryRow>;
  /** The placements that were created together with an email that is announced. */
  readonly placedWithEmail: readonly Placement[];
  /** The reason why rows may be missing. */
  readonly fault?: unknown;
  /** What filters look at in messages, by blob. */
  readonly messages: ReadonlyMap<string, ReadMessage>;
  /** What the active script looks at in messages, by blob. */
  readonly scripted: ScriptedMessages;
  readonly outbound: OutboundPrefetched;
  /** The number of emails over which a run of a filter goes, by its folder; absent when no run begins. */
  readonly counted?: ReadonlyMap<string | null, number> | undefined;
  /** Absent when nothing is judged by its words. */
  readonly junk?: JunkReads | undefined;
  /** Undefined without a limit, or when no command adds emails. */
  readonly quota?: Quota | undefined;
  /** Undefined when nothing is limited, or no command sends. */
  readonly sending?: SendingPrefetched | undefined;
  /** Added when a plan has asked for them. */
  readonly emailReads: EmailReads;
  /** Added when a plan has asked for them. */
  readonly copyReads: CopyReads;
  /** Messages that were stored with edited headers, because a plan has asked for them. */
  readonly edited?: EditedForms | undefined;
  /** Reserved for emails that the commands queue; absent when no delivery can begin on this node now. */
  readonly slots?: ReservedSlots | undefined;
  /** Ends the use of the memory that was reserved for what scripts look at. */
  release?(): void;
}

export const NOTHING_PREFETCHED: Prefetched = {
  rows: new Map(),
  placedWithEmail: [],
  messages: new Map(),
  scripted: new Map(),
  outbound: NO_OUTBOUND,
  emailReads: NO_EMAIL_READS,
  copyReads: NO_COPY_READS,
};

export interface PrefetchSources extends OutboundPrefetchSources {
  readonly blobs: Pick<BlobStore, 'index' | 'read'>;
  readonly store: Pick<MailboxStore, 'summaries' | 'placedWithEmail'> &
    JunkSources['store'] &
    OutboundPrefetchSources['store'] &
    SendingSources['store'];
  readonly texts: EmailTexts;
  readonly junk?: Pick<MailboxJunk, 'words'> | undefined;
  readonly quotas?: Pick<MailboxQuotas, 'of'>;
  readonly sending?: MailboxSending;
  readonly log: Pick<Logger, 'warn'>;
}

/** Less than the time that a gateway waits before it answers without the mailbox. */
const READING_MS = 1_500;

/** The reads of most deliveries: the message is in memory, and is judged by what the account has taught. */
export const JUDGED_INLINE: CommandReads = { judged: { blob: null } };

/** Undefined when there is nothing to read, and no promise when all is in memory. */
export function prefetch(
  sources: PrefetchSources,
  state: MailboxState,
  declared: readonly DeclaredReads<CommandReads>[],
): Prefetched | Promise<Prefetched> | undefined {
  if (declared.every(({ reads }) => reads === JUDGED_INLINE)) {
    const junk = readForJunk(sources, state.accountId, [JUDGED_INLINE.judged!]);
    return junk instanceof Promise ? junk.then(withJunk) : junk && withJunk(junk);
  }
  const isAdding = declared.some(({ reads }) => reads.isAdding === true);
  const quota = isAdding ? sources.quotas?.of(state.accountId) : undefined;
  const sending = prefetchSending(sources, state, declared, clock.now());
  const rows = prefetchRows(sources, state, declared);
  const run = declared.flatMap(({ reads }) => reads.scripted ?? []);
  const judged = declared.flatMap(({ reads }) => reads.judged ?? []);
  const junk = readForJunk(sources, state.accountId, judged);
  const counted = countRuns(state, declared);
  const others = [quota, sending, counted].some((reading) => reading !== undefined) || run.length > 0;
  if (junk === undefined && !others) return rows;
  const scripted =
    run.length === 0 ? undefined : readScripted(sources.blobs, state.accountId, run, AbortSignal.timeout(READING_MS));
  const asked = [rows ?? NOTHING_PREFETCHED, quota, sending, scripted, junk, counted] as const;
  return Promise.all(asked).then(
    ([read, quota, sending, scripted, junk, counted]) => ({
      ...read,
      quota,
      sending,
      junk,
      counted,
      ...(scripted !== undefined && { scripted: scripted.messages, release: scripted.release }),
    }),
    async (error: unknown) => {
      (await scripted)?.release();
      throw error;
    },
  );
}

const withJunk = (junk: JunkReads | undefined): Prefetched => ({ junk, ...NOTHING_PREFETCHED });

/** Undefined when no run of a filter begins. */
function countRuns(
  state: MailboxState,
  declared: readonly DeclaredReads<CommandReads>[],
): Promise<ReadonlyMap<string | null, number>> | undefined {
  const folders = new Set(declared.flatMap(({ reads }) => (reads.counted === undefined ? [] : [reads.counted])));
  if (folders.size === 0) return undefined;
  return Promise.all([...folders].map(async (id) => [id, await countInTurns(state, id)] as const)).then(
    (counts) => new Map(counts),
  );
}

function prefetchRows(
  sources: PrefetchSources,
  state: MailboxState,
  declared: readonly DeclaredReads<CommandReads>[],
): Promise<Prefetched> | undefined {
  const all = declared.map(({ reads }) => reads);
  // Two commands of one group may announce the same email.
  const announced = [...new Set(all.flatMap((reads) => reads.announced ?? []))];
  const asking = [...state.filters, ...all.flatMap(({ filter }) => filter ?? [])].filter(looksInside);
  const filtered = all.flatMap((reads) => reads.filtered ?? []).filter((message) => isRead(asking, message));
  const outbound = prefetchOutbound(sources, state, declared);
  if (announced.length + filtered.length === 0) {
    return outbound?.then((read) => ({ ...NOTHING_PREFETCHED, outbound: read }));
  }
  return read(sources, state, { asking, announced, filtered }, outbound);
}

interface Wanted {
  readonly asking: readonly Asking[];
  /** Ids of emails. */
  readonly announced: readonly string[];
  /** Delivered messages. */
  readonly filtered: readonly JudgedMessage[];
}

function isRead(asking: readonly Asking[], { facts }: JudgedMessage): boolean {
  const { header, body } = unreadParts(asking, facts);
  return header || body;
}

async function read(
  { store, texts, log }: PrefetchSources,
  state: MailboxState,
  { asking, announced, filtered }: Wanted,
  outbound: Promise<OutboundPrefetched> | undefined,
): Promise<Prefetched> {
  const { accountId } = state;
  const rows = new Map<string, EmailSummaryRow>();
  let placedWithEmail: readonly Placement[] = [];
  let fault: unknown;
  try {
    for (const row of await store.summaries(accountId, announced.filter(isUuid))) rows.set(row.id, row);
    placedWithEmail = await store.placedWithEmail(
      accountId,
      announced.flatMap((id) => placementsOf(state, id)),
    );
  } catch (error) {
    fault = error;
  }
  const found = [...rows.values()].map((row) => ({ blob: row.blob, facts: factsOf(row) }));
  const judged = [...found.filter((message) => isRead(asking, message)), ...filtered];
  const messages = await readParts(texts, accountId, asking, judged, READING_MS, (err, blob) =>
    log.warn({ accountId, blob, err }, 'a message could not be read in time for filters: they follow'),
  );
  return { ...NOTHING_PREFETCHED, rows, placedWithEmail, messages, fault, outbound: (await outbound) ?? NO_OUTBOUND };
}

function placementsOf(state: MailboxState, emailId: string): readonly Placement[] {
  const slot = state.findShown(emailId);
  if (slot < 0) return [];
  return [...state.folders].flatMap(([folderId, folder]) => {
    const uid = folder.uidOf(slot);
    return uid === 0 ? [] : [{ folderId, uid }];
  });
}
