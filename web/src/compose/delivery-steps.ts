// What has become of an email that was sent, for each recipient: from the queue over the hosts that were tried to delivery or failure, and
// the bounce that may follow a delivery. Pure: `timeline.tsx` shows it.

/** The members of an outbound email's details that matter here. */
export interface OutboundDetail {
  readonly id: string;
  readonly status: 'Draft' | 'Queued' | 'Sending' | 'Sent' | 'Failed';
  readonly sendAt: string | null;
  readonly nextRetryAt?: string | null;
  readonly recipients: readonly {
    readonly id: string;
    readonly address: string;
    readonly displayName?: string | undefined;
    readonly status: 'Pending' | 'Delivered' | 'Failed';
    readonly deliveredAt: string | null;
    readonly lastError: string | null;
  }[];
}

type Recipient = OutboundDetail['recipients'][number];

export interface Attempt {
  readonly id: string;
  readonly at: string;
  readonly durationMs: number;
  readonly host: string | null;
  readonly reply: string;
  readonly recipients: readonly { readonly id: string; readonly outcome: 'delivered' | 'temporary' | 'permanent' }[];
}

/**
 * - `held`: it can still be undone; `queued`: it waits for its turn; `sending`: a host is being asked
 * - `retrying`: the last host has put it off
 * - `bounced`: a host took it, and it came back later
 */
type RecipientState = 'held' | 'queued' | 'sending' | 'retrying' | 'delivered' | 'bounced' | 'failed' | 'cancelled';

export interface Tried {
  readonly id: string;
  readonly at: string;
  readonly durationMs: number;
  /** Empty for an account of this server. */
  readonly host: string;
  /** The reply or the error that decided; the reason of a bounce. */
  readonly reply: string;
  readonly outcome: Outcome;
}

type Outcome = Attempt['recipients'][number]['outcome'] | 'bounced';

export interface RecipientSteps {
  readonly id: string;
  readonly address: string;
  readonly name: string;
  readonly state: RecipientState;
  /** The end of a hold, or the next attempt. */
  readonly dueAt: string | null;
  /** The first step: when the email was queued, `at` null where that is not known. Null for an email that was taken back. */
  readonly queued: { readonly at: string | null } | null;
  /** When it was delivered. */
  readonly deliveredAt: string | null;
  /** The hosts that were tried, and bounces, oldest first. */
  readonly tries: readonly Tried[];
  /** Why it failed, where no try says it. */
  readonly error: string | null;
}

/** The server puts this before the reason of a bounce. */
const BOUNCE_PREFIX = /^a later bounce: /;

/** `queuedAt`: ISO 8601; null where it is not known. */
export function deliverySteps(
  email: OutboundDetail,
  attempts: readonly Attempt[],
  queuedAt: string | null,
): readonly RecipientSteps[] {
  const inOrder = [...attempts].sort((a, b) => (a.at < b.at || (a.at === b.at && a.id < b.id) ? -1 : 1));
  return email.recipients.map((recipient) => {
    const { id, address, displayName = '', deliveredAt } = recipient;
    const tries = triesOf(recipient, inOrder);
    const state = stateOf(email, recipient, tries);
    return {
      id,
      address,
      name: displayName,
      state,
      dueAt: state === 'held' ? email.sendAt : state === 'retrying' ? (email.nextRetryAt ?? null) : null,
      queued: state === 'cancelled' ? null : { at: queuedAt },
      deliveredAt,
      tries,
      error: state === 'failed' || state === 'bounced' ? untold(recipient, tries.at(-1)) : null,
    };
  });
}

function triesOf({ id, status, lastError }: Recipient, attempts: readonly Attempt[]): readonly Tried[] {
  const tries: Tried[] = [];
  for (const { id: attemptId, at, durationMs, reply, host, recipients } of attempts) {
    const outcome = recipients.find((one) => one.id === id)?.outcome;
    if (outcome === undefined) continue;
    const tried = { id: attemptId, at, durationMs, host: host ?? '', reply };
    // Nothing but a bounce makes a failure of a delivery.
    const isBounce = outcome === 'permanent' && tries.at(-1)?.outcome === 'delivered';
    tries.push(
      isBounce ? { ...tried, outcome: 'bounced', reply: reply.replace(BOUNCE_PREFIX, '') } : { ...tried, outcome },
    );
  }
  const last = tries.at(-1);
  // A bounce may name several recipients, and its entry has the reason of the first one.
  if (last?.outcome === 'bounced' && status === 'Failed' && lastError !== null)
    tries.splice(-1, 1, { ...last, reply: lastError });
  return tries;
}

/** The reason of a failure that the last try does not say. */
function untold({ lastError }: Recipient, last: Tried | undefined): string | null {
  const isTold = last?.outcome === 'permanent' || last?.outcome === 'bounced' || last?.reply === lastError;
  return isTold ? null : lastError;
}

/** True when nothing more will happen, except for a bounce that comes later. */
export const isSettled = ({ status }: Pick<OutboundDetail, 'status'>): boolean =>
  status === 'Sent' || status === 'Failed' || status === 'Draft';

function stateOf(
  { status, sendAt }: OutboundDetail,
  { status: reached, deliveredAt }: Recipient,
  tries: readonly Tried[],
): RecipientState {
  if (status === 'Draft') return 'cancelled';
  if (reached === 'Delivered') return 'delivered';
  if (reached === 'Failed') return isBounced(deliveredAt, tries.at(-1)) ? 'bounced' : 'failed';
  if (status === 'Sending') return 'sending';
  if (sendAt !== null) return 'held';
  return tries.length > 0 ? 'retrying' : 'queued';
}

/** Whether a failure is that of a message which a host had taken. */
function isBounced(deliveredAt: string | null, last: Tried | undefined): boolean {
  if (last === undefined) return deliveredAt !== null;
  return last.outcome === 'bounced' || last.outcome === 'delivered';
}
