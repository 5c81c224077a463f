// The stored snapshot of an outbound email, in the format of XState: the machines of the recipients are its children.
import type { SnapshotFrom } from 'xstate';
import { deliveredRecipient, type RecipientMachine, revivedRecipient } from '../outbound-recipient/machine.js';
import { statesOf } from '../transitions.js';
import { outboundEmail } from './machine.js';
import type { OutboundEmailContext } from './types.js';

type Email = SnapshotFrom<typeof outboundEmail>;

const DRAFT = outboundEmail.config.context as Email['context'];

const stateOf = statesOf(outboundEmail);

export interface StoredSnapshot {
  readonly value: Email['value'];
  readonly context: OutboundEmailContext;
  readonly children: Readonly<Record<string, { readonly snapshot: Pick<RecipientMachine, 'value' | 'context'> }>>;
}

/** Returns the email's snapshot to store; plain JSON. */
export function stored(email: Email): StoredSnapshot {
  const { recipients, ...context } = email.context;
  // A dictionary: V8 would create a hidden class for each snapshot, because its keys are ids.
  const children: Record<string, unknown> = Object.create(null);
  for (const [id, recipient] of recipients) {
    const snapshot = { ...plain(recipient), context: recipient.context };
    children[id] = { snapshot, src: 'recipient', syncSnapshot: false };
  }
  // Fields that a later version has added to the context are kept.
  return { ...plain(email), context, children } as StoredSnapshot;
}

/** The fields that XState stores of a machine apart from its context. */
function plain({ status, value }: Email | RecipientMachine) {
  return { status, value, historyValue: {}, children: {} };
}

/** Restores the email from a stored snapshot; without one it is a draft. */
export function revived(snapshot: StoredSnapshot | null): Email {
  const recipients = new Map<string, RecipientMachine>();
  if (snapshot === null) return stateOf('Draft', { ...DRAFT, recipients });
  const { value, context, children } = snapshot;
  for (const [id, { snapshot: recipient }] of Object.entries(children)) recipients.set(id, revivedRecipient(recipient));
  return stateOf(value, { ...DRAFT, ...context, recipients });
}

/** The most accounts that a snapshot names: a further one may get a second copy. */
const MOST_TAKERS = 5_000;

type WithTakers = { readonly context: { readonly takers?: readonly string[] } } | null | undefined;

/** The accounts of this store that have got the message, as far as a step has noted them. */
export const takersIn = (snapshot: unknown): readonly string[] => (snapshot as WithTakers)?.context.takers ?? [];

/** Notes accounts that get the message: none gets it again when another recipient is retried. The machine keeps what is noted. */
export function withTakers(snapshot: unknown, accountIds: readonly string[]): unknown {
  const known = takersIn(snapshot);
  const takers = [...new Set([...known, ...accountIds])].slice(0, MOST_TAKERS);
  if (takers.length === known.length) return snapshot;
  const { context, ...rest } = snapshot as StoredSnapshot;
  return { ...rest, context: { ...context, takers } };
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
  return stored(stateOf('Sent', { ...DRAFT, ...own, recipients }));
}
