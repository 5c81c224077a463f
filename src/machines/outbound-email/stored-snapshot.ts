// The stored snapshot of an outbound email, in the form of XState: the machines of the recipients are its children. And what an
// older version wrote of it: there the email had one time of its next attempt and one number of retries for all of its
// recipients. Nodes of all versions work on the same emails during an upgrade, so the snapshot carries both, and the older one
// counts when it was written last.
import type { SnapshotFrom } from 'xstate';
import { NEVER } from '../../mail/dsn-request.js';
import { deliveredRecipient, type RecipientMachine, revivedRecipient } from '../outbound-recipient/machine.js';
import { statesOf } from '../transitions.js';
import { outboundEmail } from './machine.js';
import type { OutboundEmailContext } from './types.js';

type Email = SnapshotFrom<typeof outboundEmail>;

interface StoredRecipient {
  readonly snapshot: {
    readonly value: string;
    readonly context: { readonly retryCount?: number; readonly nextTryAt?: number | null; readonly owes?: unknown };
  };
}

const DRAFT = outboundEmail.config.context as Email['context'];

const stateOf = statesOf(outboundEmail);

export interface StoredSnapshot {
  readonly value: string;
  readonly context: {
    readonly retryCount: number;
    readonly nextRetryAt: number | null;
    /** Versions that hold no email leave it out, and leave it as it is when they make the email due. */
    readonly heldUntil?: number | null;
    /** Snapshots that know one DSN per email have these two: their recipients do not say what they owe. */
    readonly hasSender?: boolean;
    readonly reportDue?: string | null;
  };
  readonly children: Readonly<Record<string, StoredRecipient>>;
}

/** When the first of those that are Pending and wait is due; null when none is. */
export function firstDue(
  recipients: Iterable<{ readonly status: string; readonly nextTryAt?: number | null }>,
): number | null {
  let first: number | null = null;
  for (const { status, nextTryAt } of recipients) {
    if (status !== 'Pending' || nextTryAt === undefined || nextTryAt === null) continue;
    first = Math.min(first ?? nextTryAt, nextTryAt);
  }
  return first;
}

/** What is stored of the email; plain JSON. `nextRetryAt`: when the first of its recipients that wait is due. */
export function stored(email: Email, nextRetryAt: number | null): StoredSnapshot {
  const { recipients, ...own } = email.context;
  // A dictionary: keys that are ids would give each snapshot a hidden class of its own in V8.
  const children: Record<string, unknown> = Object.create(null);
  for (const [id, recipient] of recipients) {
    const snapshot = { ...plain(recipient), context: recipient.context };
    children[id] = { snapshot, src: 'recipient', syncSnapshot: false };
  }
  // What a later version has in the context stays in it. The copied properties come last: V8 takes a microsecond to add to them.
  return { ...plain(email), context: { nextRetryAt, ...own }, children } as StoredSnapshot;
}

/** What XState stores of a machine besides its context. */
function plain({ status, value }: Email | RecipientMachine) {
  return { status, value, historyValue: {}, children: {} };
}

/** The email of a stored snapshot; a draft without one. */
export function revived(snapshot: StoredSnapshot | null): Email {
  const recipients = new Map<string, RecipientMachine>();
  if (snapshot === null) return stateOf('Draft', { ...DRAFT, recipients });
  const { value, context, children } = readable(snapshot);
  for (const [id, { snapshot: recipient }] of Object.entries(children)) {
    const known = 'owes' in recipient.context ? {} : olderReport(recipient.value, context);
    const { value: at, context: own } = recipient as Pick<RecipientMachine, 'value' | 'context'>;
    recipients.set(id, revivedRecipient({ value: at, context: { ...own, ...known } }));
  }
  const { nextRetryAt: _nextRetryAt, ...own } = context;
  return stateOf(value as Email['value'], { ...DRAFT, ...own, recipients } as Email['context']);
}

function olderReport(value: string, { hasSender, reportDue }: StoredSnapshot['context']) {
  if (hasSender === false) return { notify: NEVER, owes: null };
  const isFailed = value === 'Failed' && reportDue === 'failed';
  const isLate = value === 'Pending' && reportDue === 'delayed';
  const kind = isFailed ? ('failed' as const) : isLate ? ('delayed' as const) : undefined;
  return { notify: null, owes: kind === undefined ? null : { kind, at: 0 } };
}

/** Makes the snapshot of a sent email, which is not stored. */
export function sentSnapshot({
  recipients: rows,
  ...row
}: Pick<OutboundEmailContext, 'queuedAt' | 'sentAt' | 'retryCount' | 'lastError' | 'delayReported'> & {
  readonly recipients: readonly ({ readonly id: string } & Parameters<typeof deliveredRecipient>[0])[];
}): unknown {
  const recipients = new Map(rows.map((each) => [each.id, deliveredRecipient(each)]));
  const { queuedAt, sentAt, retryCount, lastError, delayReported } = row;
  const own = { queuedAt, sentAt, retryCount, lastError, delayReported };
  return stored(stateOf('Sent', { ...DRAFT, ...own, recipients }), null);
}

/** As this version reads it. */
function readable(stored: StoredSnapshot): StoredSnapshot {
  const children = Object.entries(stored.children);
  const { value, context } = stored;
  const known = firstDue(children.map(([, { snapshot }]) => ({ status: snapshot.value, ...snapshot.context })));
  const isHeld = value === 'Queued' && known === null;
  const own = { ...stored, context: { ...context, heldUntil: isHeld ? (context.heldUntil ?? null) : null } };
  const isWhole = children.every(([, { snapshot }]) => snapshot.context.nextTryAt !== undefined);
  if (isWhole && (value !== 'Queued' || known === context.nextRetryAt)) return own;
  const { retryCount, nextRetryAt } = context;
  const recipients = children.map(([id, child]) => {
    const nextTryAt = child.snapshot.value === 'Pending' ? nextRetryAt : null;
    const recipient = { ...child.snapshot, context: { ...child.snapshot.context, retryCount, nextTryAt } };
    return [id, { ...child, snapshot: recipient }] as const;
  });
  return { ...own, children: Object.fromEntries(recipients) };
}
