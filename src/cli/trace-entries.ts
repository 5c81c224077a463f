// Turns records of an account's log into the entries of `mansio trace`: what became of emails and outbound emails, in the order of time. Pure.
import { verdictsOf } from '../mail-format/authentication/authentication-results.js';
import { fieldValue, headerIn, headerLines } from '../mail-format/header/header-lines.js';
import { receivedClauses } from '../mail-format/header/received-field.js';
import type { ChangeOf } from '../store/changes/changes.js';
import type { RefusedMail } from '../store/traces/refused-mail.js';
import type { OnlyNode, TracedAccount, TracedChange } from '../store/traces/traces.js';

type TraceEvent =
  | 'received'
  | 'accepted'
  | 'refused'
  | 'filed'
  | 'queued'
  | 'attempted'
  | 'delivered'
  | 'failed'
  | 'bounced'
  | 'deleted';

/** `at`: ISO 8601. `node` is null where nothing says which one it was. Further members differ by event. */
export interface TraceEntry {
  readonly at: string;
  readonly node: string | null;
  readonly event: TraceEvent;
  readonly account?: string;
  readonly [fact: string]: unknown;
}

export interface Traced {
  readonly account: TracedAccount;
  /** Ids of the emails and outbound emails that are traced. */
  readonly ids: ReadonlySet<string>;
  readonly changes: readonly TracedChange[];
  readonly headers: ReadonlyMap<string, Uint8Array>;
  readonly folders: ReadonlyMap<string, string>;
  readonly node: OnlyNode | undefined;
}

export function entriesOf(traced: Traced): readonly TraceEntry[] {
  const states = new Map<string, string>();
  return traced.changes.flatMap((change) => entriesOfChange(traced, change, states));
}

/** `states`: of recipients so far. */
function entriesOfChange(traced: Traced, change: TracedChange, states: Map<string, string>): readonly TraceEntry[] {
  const { account, ids, node, folders } = traced;
  const entry = (event: TraceEvent, facts: Readonly<Record<string, unknown>>, at = change.at): TraceEntry => ({
    at: new Date(at).toISOString(),
    node: node !== undefined && at >= node.since ? node.id : null,
    event,
    account: account.email,
    ...facts,
  });
  const nameOf = (folderId: string) => folders.get(folderId) ?? folderId;

  switch (change.type) {
    case 'EmailAdded':
      return ids.has(change.payload.email.id) ? addedEntries(traced, change.payload, entry, nameOf) : [];
    case 'EmailPlaced': {
      const { emailId: first, others = [], folderId } = change.payload;
      return filedEntries(ids, [first, ...others], nameOf(folderId), entry);
    }
    case 'FolderDeleted': {
      const { placed } = change.payload;
      const emailIds = (placed?.emails ?? []).map(({ emailId }) => emailId);
      return placed === null ? [] : filedEntries(ids, emailIds, nameOf(placed.folderId), entry);
    }
    case 'EmailRemoved': {
      const { emailId: first, others = [] } = change.payload;
      const emailIds = [first, ...others.map(({ emailId }) => emailId)];
      return emailIds.filter((id) => ids.has(id)).map((emailId) => entry('deleted', { emailId }));
    }
    default:
      return outboundEntries(ids, change, entry, states);
  }
}

type MakeEntry = (event: TraceEvent, facts: Readonly<Record<string, unknown>>, at?: number) => TraceEntry;

function filedEntries(
  ids: ReadonlySet<string>,
  emailIds: readonly string[],
  folder: string,
  entry: MakeEntry,
): readonly TraceEntry[] {
  return emailIds.filter((id) => ids.has(id)).map((emailId) => entry('filed', { emailId, folders: [folder] }));
}

function addedEntries(
  { headers }: Traced,
  { email, placements }: ChangeOf<'EmailAdded'>['payload'],
  entry: MakeEntry,
  nameOf: (folderId: string) => string,
): readonly TraceEntry[] {
  const { id: emailId, messageId, blob, fromAddress: from, subject, size, receivedAt } = email;
  const filed = entry('filed', { emailId, messageId, folders: placements.map(({ folderId }) => nameOf(folderId)) });
  // A client may append what another server like this one has received.
  const header = email.origin === 'appended' ? undefined : headers.get(blob);
  const way = header === undefined ? undefined : wayIn(Buffer.from(header), email.hasAuthenticationResults === true);
  if (way === undefined) return [filed];
  const { checks, ...transport } = way;
  const facts = { emailId, messageId };
  return [
    entry('received', { ...facts, ...transport, from, subject, bytes: size }, receivedAt),
    entry('accepted', { ...facts, ...(checks !== undefined && { checks }) }, receivedAt),
    filed,
  ];
}

/** How a message came in, from the trace fields that this server has written before its header; undefined without these. */
function wayIn(message: Buffer, hasResults: boolean) {
  const lines = headerLines(headerIn(message));
  const field = lines.find(({ name }) => name === 'received');
  const clauses = field === undefined ? undefined : receivedClauses(fieldValue(field));
  const isOurs = hasResults || lines[0] === field || lines[0]?.name === 'return-path';
  if (clauses === undefined || !isOurs) return undefined;
  const { protocol, id: transaction, by: host, ...peer } = clauses;
  const path = lines.find(({ name }) => name === 'return-path');
  const sender = path === undefined ? undefined : /<(.*)>/.exec(fieldValue(path))?.[1];
  const results = hasResults ? lines.find(({ name }) => name === 'authentication-results') : undefined;
  return {
    listener: protocol.endsWith('A') ? 'submission' : 'mx',
    host,
    ...peer,
    tls: /S(?:A)?$/.test(protocol.replace(/^UTF8SMTP|^E?SMTP/, '')),
    transaction,
    ...(sender !== undefined && { sender }),
    checks: results === undefined ? undefined : verdictsOf(fieldValue(results)),
  };
}

function outboundEntries(
  ids: ReadonlySet<string>,
  change: TracedChange,
  entry: MakeEntry,
  states: Map<string, string>,
): readonly TraceEntry[] {
  if (change.type === 'OutboundChanged' && ids.has(change.payload.outbound.id)) {
    const { outbound, before, passed } = change.payload;
    const { id: outboundId, messageId, sender, subject } = outbound;
    // A retry that waits is queued all the time.
    const isQueued = before !== 'Queued' && before !== 'Sending' && [outbound.status, ...passed].includes('Queued');
    const isBegun = before !== 'Queued' && outbound.status === 'Sending';
    return isQueued || isBegun ? [entry('queued', { outboundId, messageId, sender, subject })] : [];
  }
  if (change.type === 'DeliveryAttempted' && ids.has(change.payload.outboundId)) {
    const { outboundId, attempt } = change.payload;
    const { at, id: _, node, ...facts } = attempt;
    const attempted = entry('attempted', { outboundId, ...facts }, at);
    return [node === undefined ? attempted : { ...attempted, node }];
  }
  if (change.type !== 'RecipientChanged' || !ids.has(change.payload.outboundId)) return [];
  const { outboundId, recipient } = change.payload;
  const { id, address, status, lastError: reason, statusCode, deliveredAt } = recipient;
  const before = states.get(id);
  states.set(id, status);
  if (status === before) return [];
  if (status === 'Delivered') return [entry('delivered', { outboundId, recipient: address })];
  if (status !== 'Failed') return [];
  const isBounce = before === 'Delivered' || deliveredAt !== null;
  return [entry(isBounce ? 'bounced' : 'failed', { outboundId, recipient: address, statusCode, reason })];
}

export function refusedEntry({ at, node, remoteAddress: peer, ...facts }: RefusedMail): TraceEntry {
  return { at: new Date(at).toISOString(), node, event: 'refused', peer, ...facts };
}

/** The ids of emails and outbound emails that records add, of one message. */
export function idsIn(changes: readonly TracedChange[], messageId: string): readonly string[] {
  return changes.flatMap((change) => {
    if (change.type === 'EmailAdded' && change.payload.email.messageId === messageId) return [change.payload.email.id];
    const isSent = change.type === 'OutboundChanged' && change.payload.outbound.messageId === messageId;
    return isSent ? [change.payload.outbound.id] : [];
  });
}

/** The blobs of the emails that records add. */
export function blobsIn(changes: readonly TracedChange[], ids: ReadonlySet<string>): readonly string[] {
  return changes.flatMap((change) => {
    return change.type === 'EmailAdded' && ids.has(change.payload.email.id) ? [change.payload.email.blob] : [];
  });
}
