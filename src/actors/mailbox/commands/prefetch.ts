// Reads from the store what a group of commands declares, before it is planned: rows and first placements of emails to announce, and words
// of bodies for filters. Time is limited, because filters must not delay mail: if a body could not be read, the filters that need it are
// applied after the delivery.

import type { Logger } from 'pino';
import { atMost } from '../../../concurrency/time-bounds.js';
import { isUuid } from '../../../mail-format/ids.js';
import type { Placement } from '../../../store/mailbox-rows.js';
import type { EmailSummaryRow, MailboxStore } from '../../../store/mailboxes.js';
import type { DeclaredReads } from '../../runtime/behavior.js';
import { type Asking, type EmailFacts, needsBody, type ReadBody } from '../filters/filter-match.js';
import { type CopyReads, NO_COPY_READS } from '../outbound/copy-reads.js';
import type { ReservedSlots } from '../outbound/delivery-slots.js';
import {
  NO_OUTBOUND,
  type OutboundPrefetched,
  type OutboundPrefetchSources,
  type OutboundReads,
  prefetchOutbound,
} from '../outbound/prefetch.js';
import type { EmailTexts } from '../search/email-texts.js';
import { type EmailReads, NO_EMAIL_READS } from '../state/email-reads.js';
import type { MailboxState } from '../state/state.js';

/** What a command reads before it is planned. */
export interface CommandReads {
  /** The id of an email of which the row and the first placements are needed, and the body when filters look at it. */
  readonly announced?: string;
  /** A message of which the body is needed when filters look at it. */
  readonly filtered?: { readonly blob: string; readonly facts: EmailFacts };
  /** A filter that the command creates. */
  readonly filter?: Asking;
  readonly outbound?: OutboundReads;
}

export interface Prefetched {
  /** Rows of emails by id. */
  readonly rows: ReadonlyMap<string, EmailSummaryRow>;
  /** The placements that were created together with an email that is announced. */
  readonly placedWithEmail: readonly Placement[];
  /** The reason why rows may be missing. */
  readonly fault?: unknown;
  /** Words of bodies by blob. */
  readonly bodies: ReadonlyMap<string, ReadBody>;
  readonly outbound: OutboundPrefetched;
  /** Added when a plan has asked for them. */
  readonly emailReads: EmailReads;
  /** Added when a plan has asked for them. */
  readonly copyReads: CopyReads;
  /** Reserved for emails that the commands queue; absent when no delivery can begin on this node now. */
  readonly slots?: ReservedSlots | undefined;
}

export const NOTHING_PREFETCHED: Prefetched = {
  rows: new Map(),
  placedWithEmail: [],
  bodies: new Map(),
  outbound: NO_OUTBOUND,
  emailReads: NO_EMAIL_READS,
  copyReads: NO_COPY_READS,
};

export interface PrefetchSources extends OutboundPrefetchSources {
  readonly store: Pick<MailboxStore, 'summaries' | 'placedWithEmail'> & OutboundPrefetchSources['store'];
  readonly texts: EmailTexts;
  readonly log: Pick<Logger, 'warn'>;
}

const AT_ONCE = 4;
/** Less than the time that a gateway waits before it answers without the mailbox. */
const READING_MS = 1_500;

/** Undefined when there is nothing to read. */
export function prefetch(
  sources: PrefetchSources,
  state: MailboxState,
  declared: readonly DeclaredReads<CommandReads>[],
): Promise<Prefetched> | undefined {
  const all = declared.map(({ reads }) => reads);
  // Two commands of one group may announce the same email.
  const announced = [...new Set(all.flatMap((reads) => reads.announced ?? []))];
  const asking = [...state.filters, ...all.flatMap(({ filter }) => filter ?? [])].filter(
    ({ isEnabled, bodyContains }) => isEnabled && bodyContains !== null,
  );
  const filtered = all.flatMap((reads) => reads.filtered ?? []).filter(({ facts }) => needsBody(asking, facts));
  const outbound = prefetchOutbound(sources, state, declared);
  if (announced.length + filtered.length === 0) {
    return outbound?.then((read) => ({ ...NOTHING_PREFETCHED, outbound: read }));
  }
  const blobs = filtered.map(({ blob }) => blob);
  return read(sources, state, { asking, announced, blobs }, outbound);
}

interface Wanted {
  readonly asking: readonly Asking[];
  /** Ids of emails. */
  readonly announced: readonly string[];
  /** Blobs of delivered messages. */
  readonly blobs: readonly string[];
}

async function read(
  { store, texts, log }: PrefetchSources,
  state: MailboxState,
  { asking, announced, blobs }: Wanted,
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
  const judged = [...rows.values()].filter((row) => needsBody(asking, factsOf(row)));
  const wanted = [...new Set([...judged.map(({ blob }) => blob), ...blobs])];
  const bodies = await bodiesOf(texts, accountId, wanted, READING_MS, (err, blob) =>
    log.warn({ accountId, blob, err }, 'a body could not be read in time for filters: they follow'),
  );
  return { ...NOTHING_PREFETCHED, rows, placedWithEmail, bodies, fault, outbound: (await outbound) ?? NO_OUTBOUND };
}

function placementsOf(state: MailboxState, emailId: string): readonly Placement[] {
  const slot = state.findShown(emailId);
  if (slot < 0) return [];
  return [...state.folders].flatMap(([folderId, folder]) => {
    const uid = folder.uidOf(slot);
    return uid === 0 ? [] : [{ folderId, uid }];
  });
}

/** Returns the words of bodies that could be read in time; a failed blob is passed to `failed` and has no entry. */
export async function bodiesOf(
  texts: EmailTexts,
  accountId: string,
  blobs: readonly string[],
  withinMs: number,
  failed: (error: unknown, blob: string) => void,
): Promise<ReadonlyMap<string, ReadBody>> {
  const bodies = new Map<string, ReadBody>();
  if (blobs.length === 0) return bodies;
  const waiting = [...blobs];
  let isLate = false;
  async function work(): Promise<void> {
    for (let blob = waiting.shift(); blob !== undefined && !isLate; blob = waiting.shift()) {
      try {
        const { text, extent } = await texts.text(accountId, blob);
        if (extent === 'undecoded') throw new Error('it was not decoded in time');
        if (!isLate) bodies.set(blob, { text, isWhole: extent === 'whole' });
      } catch (error) {
        if (!isLate) failed(error, blob);
      }
    }
  }
  isLate = !(await atMost(Promise.all(Array.from({ length: AT_ONCE }, work)), withinMs));
  for (const blob of blobs) {
    if (isLate && !bodies.has(blob)) failed(new Error('it was not read in time'), blob);
  }
  return bodies;
}

/** The facts that filters look at, from an email's row or summary. */
export function factsOf(
  email: Pick<EmailSummaryRow, 'fromAddress' | 'subject' | 'hasAttachments'>,
  body: ReadBody | null = null,
): EmailFacts {
  const { fromAddress, subject, hasAttachments } = email;
  return { fromAddress, subject, hasAttachments, body };
}
