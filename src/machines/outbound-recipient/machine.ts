// One recipient of an outbound email: Pending until it is Delivered or Failed. The email's machine passes replies to it and gets the
// results that it emits. Every recipient has its own retries, so that a slow domain delays no other domain. Nothing is delivered twice: a
// bounce makes a Delivered recipient Failed, and only the sender can have it tried again. The recipient also knows the DSN that is due to
// its sender: at most one at a time.
import { assign, emit, type SnapshotFrom, setup } from 'xstate';
import type { DsnKind } from '../../mail-format/outbound-status.js';
import { type Notify, wantsDsn } from '../../mail-format/reports/dsn-request.js';
import { type RetryPolicy, retryDelay } from '../outbound-email/retry.js';
import { statesOf, transitionsOf } from '../transitions.js';

interface RecipientContext {
  /** ms since the epoch. */
  readonly deliveredAt: number | null;
  /** The last answer that was not a delivery. */
  readonly lastError: string | null;
  /** The enhanced status code of that answer (RFC 3463). */
  readonly statusCode: string | null;
  readonly retryCount: number;
  /** The time at which a Pending recipient is due, in ms since the epoch; null during an attempt or while the email is held. */
  readonly nextTryAt: number | null;
  /** The DSNs that the sender requests. */
  readonly notify: Notify;
  /** The DSN about this recipient that is due to the sender, and the time from which it is due, in ms since the epoch. */
  readonly owes: { readonly kind: DsnKind; readonly at: number } | null;
  /** The last host that got the whole message but did not confirm that it accepted the message. */
  readonly doubtfulHost: string | null;
}

type Answer = { readonly text: string; readonly statusCode: string };
/** The inputs for planning the next attempt: time, random number (uniform in [0, 1)) and policy. */
type Planned = { readonly now: number; readonly random: number; readonly policy: RetryPolicy };

export type RecipientEvent =
  /** An attempt begins. */
  | { readonly type: 'tried' }
  /** The recipient is due again now: its attempt was interrupted, or an operator requests it. */
  | { readonly type: 'due'; readonly now: number }
  /** There was no attempt after all: the recipient waits again, and its retry count stays. */
  | ({ readonly type: 'postponed' } & Planned)
  | { readonly type: 'delivered'; readonly now: number; readonly onward?: Onward | undefined }
  | ({ readonly type: 'deferred'; readonly doubtfulHost?: string | undefined } & Answer & Planned)
  | ({ readonly type: 'refused'; readonly now: number } & Answer)
  /** There are no further attempts; the last reply stays, if there was one. `isKnown`: the sender knows it. */
  | ({ readonly type: 'abandoned'; readonly now: number; readonly isKnown: boolean } & Answer)
  /** The host that had accepted the message reports that it could not deliver the message. */
  | ({ readonly type: 'bounced' } & Answer)
  | { readonly type: 'revived'; readonly now: number }
  /** The email has waited so long that its sender must be notified. */
  | { readonly type: 'late'; readonly now: number }
  /** No other DSN is waited for, so the due one is given at once. */
  | { readonly type: 'settled'; readonly now: number }
  /** The due DSN has been given. */
  | { readonly type: 'told' };

type EventOf<T extends RecipientEvent['type']> = Extract<RecipientEvent, { type: T }>;

/** Results for the machine of the email. */
export type RecipientResult =
  | { readonly type: 'recipientDelivered' }
  | { readonly type: 'recipientDeferred'; readonly text: string; readonly retryCount: number; readonly now: number }
  | { readonly type: 'recipientFailed'; readonly text: string }
  | { readonly type: 'recipientBounced'; readonly text: string }
  | { readonly type: 'recipientRevived' };

/** How a remote host accepted the message: with the sender's DSN request, or without, because it does not support DSN. */
export type Onward = 'passed' | 'relayed';

/** Recipients that end within this time share a DSN; a DSN is given within a minute (docs/interface/mail.md, "Reports"). */
const SHARED_REPORT_MS = 55_000;

const NEW: RecipientContext = {
  deliveredAt: null,
  lastError: null,
  statusCode: null,
  retryCount: 0,
  nextTryAt: null,
  notify: null,
  owes: null,
  doubtfulHost: null,
};

function owed({ notify }: RecipientContext, kind: DsnKind, at: number): RecipientContext['owes'] {
  return wantsDsn(notify, kind) ? { kind, at } : null;
}

export const outboundRecipient = setup({
  types: {
    context: {} as RecipientContext,
    events: {} as RecipientEvent,
    emitted: {} as RecipientResult,
  },
  guards: {
    isKnown: (_, { isKnown }: EventOf<'abandoned'>) => isKnown,
    retriesExhausted: ({ context }, { policy }: EventOf<'deferred'>) => context.retryCount >= policy.maxRetries,
  },
  actions: {
    makeDue: assign((_, { now }: { now: number }) => ({ nextTryAt: now })),
    forgetDueTime: assign({ nextTryAt: null }),
    keepTime: assign((_, { now }: EventOf<'delivered'>) => ({ deliveredAt: now, nextTryAt: null })),
    oweSuccess: assign(({ context }, { now, onward }: EventOf<'delivered'>) => ({
      owes: onward === 'passed' ? null : owed(context, onward ?? 'delivered', now + SHARED_REPORT_MS),
    })),
    oweFailure: assign(({ context }, { now }: { now: number }) => ({
      owes: owed(context, 'failed', now + SHARED_REPORT_MS),
    })),
    oweDelay: assign(({ context }, { now }: { now: number }) => ({ owes: owed(context, 'delayed', now) })),
    hurry: assign(({ context: { owes } }, { now }: { now: number }) => ({ owes: owes && { ...owes, at: now } })),
    oweNothing: assign({ owes: null }),
    keepAnswer: assign((_, { text, statusCode }: Answer) => ({ lastError: text, statusCode, nextTryAt: null })),
    keepReason: assign(({ context }, { text, statusCode }: Answer) =>
      context.lastError === null ? { lastError: text, statusCode, nextTryAt: null } : { nextTryAt: null },
    ),
    keepDoubt: assign(({ context }, { doubtfulHost }: EventOf<'deferred'>) => ({
      doubtfulHost: doubtfulHost ?? context.doubtfulHost,
    })),
    backOff: assign(({ context }, { now, random, policy }: Planned) => ({
      retryCount: context.retryCount + 1,
      nextTryAt: now + retryDelay(policy, context.retryCount, random),
    })),
    wait: assign((_, { now, random, policy }: Planned) => ({ nextTryAt: now + retryDelay(policy, 0, random) })),
    resetRetries: assign((_, { now }: EventOf<'revived'>) => ({ retryCount: 0, nextTryAt: now })),
    reportDelivered: emit({ type: 'recipientDelivered' }),
    reportDeferred: emit(({ context }, { text, now }: EventOf<'deferred'>) => {
      return { type: 'recipientDeferred', text, retryCount: context.retryCount, now };
    }),
    reportFailed: emit((_, { text }: Answer) => ({ type: 'recipientFailed', text })),
    reportBounced: emit((_, { text }: Answer) => ({ type: 'recipientBounced', text })),
    reportRevived: emit({ type: 'recipientRevived' }),
  },
}).createMachine({
  id: 'outboundRecipient',
  context: NEW,
  initial: 'Pending',
  on: {
    settled: { actions: { type: 'hurry', params: ({ event }) => event } },
    told: { actions: 'oweNothing' },
  },
  states: {
    Pending: {
      on: {
        tried: { actions: 'forgetDueTime' },
        due: { actions: { type: 'makeDue', params: ({ event }) => event } },
        postponed: { actions: { type: 'wait', params: ({ event }) => event } },
        late: { actions: { type: 'oweDelay', params: ({ event }) => event } },
        delivered: {
          target: 'Delivered',
          actions: [
            { type: 'keepTime', params: ({ event }) => event },
            { type: 'oweSuccess', params: ({ event }) => event },
            'reportDelivered',
          ],
        },
        deferred: [
          {
            guard: { type: 'retriesExhausted', params: ({ event }) => event },
            target: 'Failed',
            actions: [
              { type: 'keepAnswer', params: ({ event }) => event },
              { type: 'oweFailure', params: ({ event }) => event },
              { type: 'reportFailed', params: ({ event }) => event },
            ],
          },
          {
            actions: [
              { type: 'keepAnswer', params: ({ event }) => event },
              { type: 'keepDoubt', params: ({ event }) => event },
              { type: 'backOff', params: ({ event }) => event },
              { type: 'reportDeferred', params: ({ event }) => event },
            ],
          },
        ],
        refused: {
          target: 'Failed',
          actions: [
            { type: 'keepAnswer', params: ({ event }) => event },
            { type: 'oweFailure', params: ({ event }) => event },
            { type: 'reportFailed', params: ({ event }) => event },
          ],
        },
        abandoned: [
          {
            guard: { type: 'isKnown', params: ({ event }) => event },
            target: 'Failed',
            actions: [
              { type: 'keepReason', params: ({ event }) => event },
              'oweNothing',
              { type: 'reportFailed', params: ({ event }) => event },
            ],
          },
          {
            target: 'Failed',
            actions: [
              { type: 'keepReason', params: ({ event }) => event },
              { type: 'oweFailure', params: ({ event }) => event },
              { type: 'reportFailed', params: ({ event }) => event },
            ],
          },
        ],
      },
    },
    // The bounce is in the sender's mailbox, so no DSN about it is due.
    Delivered: {
      on: {
        bounced: {
          target: 'Failed',
          actions: [
            { type: 'keepAnswer', params: ({ event }) => event },
            'oweNothing',
            { type: 'reportBounced', params: ({ event }) => event },
          ],
        },
      },
    },
    Failed: {
      on: {
        revived: {
          target: 'Pending',
          actions: [{ type: 'resetRetries', params: ({ event }) => event }, 'oweNothing', 'reportRevived'],
        },
      },
    },
  },
});

export type RecipientMachine = SnapshotFrom<typeof outboundRecipient>;

const transition = transitionsOf(outboundRecipient);

const stateOf = statesOf(outboundRecipient);

/** Makes a recipient that is due at this time; null: the email is held, or the attempt begins at once. */
export function pendingRecipient(nextTryAt: number | null, notify: Notify): RecipientMachine {
  return stateOf('Pending', { ...NEW, nextTryAt, notify });
}

/** Makes the machine of a recipient whose email is sent. */
export function deliveredRecipient(
  known: Pick<RecipientContext, 'deliveredAt' | 'lastError' | 'statusCode'>,
): RecipientMachine {
  const { deliveredAt, lastError, statusCode } = known;
  return stateOf('Delivered', { ...NEW, deliveredAt, lastError, statusCode });
}

/** Restores the recipient as it was stored. */
export function revivedRecipient({ value, context }: Pick<RecipientMachine, 'value' | 'context'>): RecipientMachine {
  return stateOf(value, { ...NEW, ...context });
}

export function recipientAfter(
  recipient: RecipientMachine,
  event: RecipientEvent,
): { readonly recipient: RecipientMachine; readonly results: readonly RecipientResult[] } {
  const results: RecipientResult[] = [];
  return { recipient: transition(recipient, event, results), results };
}
