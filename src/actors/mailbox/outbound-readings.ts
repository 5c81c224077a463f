// What commands about outbound mail need of the store: rows that are not in memory, summaries of messages that are handed
// to mailboxes of this store, the number of drafts. Nothing is decided without them: a command whose row could not be read
// fails as the reading did.
import { isUuid } from '../../mail/ids.js';
import type { MessageSummary } from '../../mail/message-index.js';
import { summarize } from '../../mail/summary.js';
import type { BlobStore } from '../../store/blobs.js';
import type { MailboxStore } from '../../store/mailboxes.js';
import type { OutboundRow } from '../../store/outbound.js';
import type { Payload } from '../runtime/protocol.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxState } from './state.js';

export interface OutboundReadings {
  /** By id; null for what is not there. Ids that are missing were not read. */
  readonly rows: ReadonlyMap<string, OutboundRow | null>;
  /** By id of the outbound email. */
  readonly summaries: ReadonlyMap<string, MessageSummary>;
  /** Absent when it was not read. */
  readonly drafts?: number | undefined;
  /** Why something is missing. */
  readonly fault?: unknown;
}

export const NO_OUTBOUND: OutboundReadings = { rows: new Map(), summaries: new Map() };

export interface OutboundSources {
  readonly store: Pick<MailboxStore, 'outboundRows' | 'outboundCounts'>;
  readonly blobs: Pick<BlobStore, 'index'>;
}

interface Asked {
  readonly name: string;
  readonly payload: unknown;
}

/** Undefined when there is nothing to read, which is the common case. */
export function outboundReadings(
  sources: OutboundSources,
  state: MailboxState,
  commands: readonly Asked[],
): Promise<OutboundReadings> | undefined {
  const ids = new Set<string>();
  const handed = new Set<string>();
  let counts = false;
  for (const { name, payload } of commands) {
    if (name === 'createDraft') counts ||= state.outbound.count('Draft') === undefined;
    const id = idOf(name, payload);
    if (id === undefined || !isUuid(id)) continue;
    const known = state.outbound.get(id);
    if (known === undefined) ids.add(id);
    if (known?.summary === undefined && handsOver(name, payload)) handed.add(id);
  }
  if (ids.size === 0 && handed.size === 0 && !counts) return undefined;
  return read(sources, state, [...ids], [...handed], counts);
}

async function read(
  { store, blobs }: OutboundSources,
  state: MailboxState,
  ids: readonly string[],
  handed: readonly string[],
  counts: boolean,
): Promise<OutboundReadings> {
  const rows = new Map<string, OutboundRow | null>();
  const summaries = new Map<string, MessageSummary>();
  let drafts: number | undefined;
  try {
    if (counts) {
      const counted = await store.outboundCounts(state.accountId, ['Draft']);
      state.outbound.learn(counted, state.modseq);
      drafts = counted.counts.get('Draft');
    }
    const found = new Map((await store.outboundRows(state.accountId, ids)).map((row) => [row.id, row]));
    for (const id of ids) rows.set(id, found.get(id) ?? null);
    for (const id of handed) {
      const blob = (state.outbound.get(id)?.row ?? rows.get(id))?.blob;
      const index = blob ? await blobs.index(blob) : undefined;
      if (index !== undefined) summaries.set(id, summarize(index));
    }
    return { rows, summaries, drafts };
  } catch (fault) {
    return { rows, summaries, drafts, fault };
  }
}

function idOf(name: string, payload: unknown): string | undefined {
  if (name === 'enqueue') return (payload as Payload<MailboxProtocol, 'enqueue'>).draft?.id;
  return (payload as { readonly outboundId?: string }).outboundId;
}

function handsOver(name: string, payload: unknown): boolean {
  if (name !== 'reportDelivery') return false;
  const { outcomes } = payload as Payload<MailboxProtocol, 'reportDelivery'>;
  return outcomes.some(({ kind, handedTo }) => kind === 'delivered' && handedTo !== undefined);
}
