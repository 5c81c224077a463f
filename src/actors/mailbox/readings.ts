// What planning needs of the store and cannot wait for: the rows of emails to announce, and the words of bodies when a
// filter asks for them. Read before a group of commands is planned, within bounds; what could not be read is missing, and
// then a condition on it does not hold: mail is never kept waiting by a filter.
import type { Logger } from 'pino';
import type { EmailSummaryRow, MailboxStore } from '../../store/mailboxes.js';
import type { Payload } from '../runtime/protocol.js';
import type { EmailTexts } from './email-texts.js';
import { type EmailFacts, needsBody } from './filter-match.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxState } from './state.js';

export interface Readings {
  /** Rows of emails by id. */
  readonly rows: ReadonlyMap<string, EmailSummaryRow>;
  /** Words of bodies by blob. */
  readonly bodies: ReadonlyMap<string, string>;
}

export const NOTHING_READ: Readings = { rows: new Map(), bodies: new Map() };

export interface ReadingSources {
  readonly store: Pick<MailboxStore, 'summaries'>;
  readonly texts: EmailTexts;
  readonly log: Pick<Logger, 'warn'>;
}

interface Asked {
  readonly name: string;
  readonly payload: unknown;
}

const AT_ONCE = 4;
/** Less than a gateway waits before it answers without us. */
const READING_MS = 1_500;

/** Undefined when there is nothing to read, which is the common case. */
export function readings(
  sources: ReadingSources,
  state: MailboxState,
  commands: readonly Asked[],
): Promise<Readings> | undefined {
  const announced = commands.filter(({ name }) => name === 'announce');
  if (announced.length === 0 && !state.filters.some((filter) => filter.isEnabled && filter.bodyContains !== null))
    return undefined;
  return read(
    sources,
    state,
    announced.map(({ payload }) => (payload as Payload<MailboxProtocol, 'announce'>).emailId),
    commands
      .filter(({ name }) => name === 'deliver')
      .map(({ payload }) => payload as Payload<MailboxProtocol, 'deliver'>),
  );
}

async function read(
  { store, texts, log }: ReadingSources,
  state: MailboxState,
  announced: readonly string[],
  delivered: readonly Payload<MailboxProtocol, 'deliver'>[],
): Promise<Readings> {
  const { accountId, filters } = state;
  const rows = new Map<string, EmailSummaryRow>();
  if (announced.length > 0) {
    const found = await store.summaries(accountId, announced);
    for (const row of found) rows.set(row.id, row);
  }
  const wanted = [
    ...[...rows.values()].filter((row) => needsBody(filters, factsOf(row))),
    ...delivered.filter(
      ({ inboundId, summary }) => !state.delivered.has(inboundId) && needsBody(filters, factsOf(summary)),
    ),
  ];
  const bodies = await bodiesOf(texts, [...new Set(wanted.map(({ blob }) => blob))], READING_MS, (err, blob) =>
    log.warn({ accountId, blob, err }, 'a body could not be read for filters'),
  );
  return { rows, bodies };
}

/** Words of blobs, as many as can be had in time; a blob that fails is reported and missing. */
export async function bodiesOf(
  texts: EmailTexts,
  blobs: readonly string[],
  withinMs: number,
  failed: (error: unknown, blob: string) => void,
): Promise<ReadonlyMap<string, string>> {
  const bodies = new Map<string, string>();
  if (blobs.length === 0) return bodies;
  const waiting = [...blobs];
  let isLate = false;
  async function work(): Promise<void> {
    for (let blob = waiting.shift(); blob !== undefined && !isLate; blob = waiting.shift()) {
      try {
        const text = await texts.text(blob);
        if (!isLate) bodies.set(blob, text);
      } catch (error) {
        if (!isLate) failed(error, blob);
      }
    }
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      isLate = true;
      resolve();
    }, withinMs);
  });
  await Promise.race([late, Promise.all(Array.from({ length: AT_ONCE }, work))]);
  clearTimeout(timer);
  for (const blob of blobs) {
    if (isLate && !bodies.has(blob)) failed(new Error('it was not read in time'), blob);
  }
  return bodies;
}

/** What filters look at, of an email's row or its summary. */
export function factsOf(
  email: Pick<EmailSummaryRow, 'fromAddress' | 'subject' | 'hasAttachments'>,
  body: string | null = null,
): EmailFacts {
  const { fromAddress, subject, hasAttachments } = email;
  return { fromAddress, subject, hasAttachments, body };
}
