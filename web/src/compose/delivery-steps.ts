// What has become of an email that was sent, for each recipient: from the queue over the hosts that were tried to delivery or failure. Pure:
// `timeline.tsx` shows it.

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
 */
type RecipientState = 'held' | 'queued' | 'sending' | 'retrying' | 'delivered' | 'failed' | 'cancelled';

export interface Tried {
  readonly id: string;
  readonly at: string;
  readonly durationMs: number;
  /** Empty for an account of this server. */
  readonly host: string;
  readonly reply: string;
  readonly outcome: Attempt['recipients'][number]['outcome'];
}

export interface RecipientSteps {
  readonly id: string;
  readonly address: string;
  readonly name: string;
  readonly state: RecipientState;
  /** The end of a hold, or the next attempt. */
  readonly dueAt: string | null;
  /** When it was delivered. */
  readonly deliveredAt: string | null;
  /** The hosts that were tried, oldest first. */
  readonly tries: readonly Tried[];
  /** Why it failed, where no host has said it. */
  readonly error: string | null;
}

export function deliverySteps(email: OutboundDetail, attempts: readonly Attempt[]): readonly RecipientSteps[] {
  const inOrder = [...attempts].sort((a, b) => (a.at < b.at || (a.at === b.at && a.id < b.id) ? -1 : 1));
  return email.recipients.map((recipient) => {
    const { id, address, displayName = '', deliveredAt, lastError } = recipient;
    const tries = inOrder.flatMap((attempt) => {
      const outcome = attempt.recipients.find((one) => one.id === id)?.outcome;
      const { at, durationMs, reply, host } = attempt;
      return outcome === undefined ? [] : [{ id: attempt.id, at, durationMs, host: host ?? '', reply, outcome }];
    });
    const state = stateOf(email, recipient.status, tries);
    const dueAt = state === 'held' ? email.sendAt : state === 'retrying' ? (email.nextRetryAt ?? null) : null;
    const error = state === 'failed' && tries.at(-1)?.outcome !== 'permanent' ? lastError : null;
    return { id, address, name: displayName, state, dueAt, deliveredAt, tries, error };
  });
}

/** True when nothing more will happen, except for a bounce that comes later. */
export const isSettled = ({ status }: Pick<OutboundDetail, 'status'>): boolean =>
  status === 'Sent' || status === 'Failed' || status === 'Draft';

function stateOf(
  { status, sendAt }: OutboundDetail,
  recipient: OutboundDetail['recipients'][number]['status'],
  tries: readonly Tried[],
): RecipientState {
  if (status === 'Draft') return 'cancelled';
  if (recipient !== 'Pending') return recipient === 'Delivered' ? 'delivered' : 'failed';
  if (status === 'Sending') return 'sending';
  if (sendAt !== null) return 'held';
  return tries.length > 0 ? 'retrying' : 'queued';
}
