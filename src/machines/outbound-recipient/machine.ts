// One recipient of an outbound email: Pending until it is Delivered or Failed. The email's machine passes replies on to it and
// gets the results that it emits. Every recipient has its own retries, so that a slow domain delays no other domain.
// Delivered is final: nothing is delivered twice.
import { assign, emit, type SnapshotFrom, setup } from 'xstate';
import { type RetryPolicy, retryDelay } from '../outbound-email/retry.js';
import { statesOf, transitionsOf } from '../transitions.js';

interface RecipientContext {
  /** ms since the epoch. */
  readonly deliveredAt: number | null;
  /** The last answer that was no delivery. */
  readonly lastError: string | null;
  /** Its enhanced status code (RFC 3463). */
  readonly statusCode: string | null;
  readonly retryCount: number;
  /** While Pending: when it is due, ms since the epoch; null while an attempt is under way or the email is held. */
  readonly nextTryAt: number | null;
  /** The last host that got the whole message and did not say whether it took the message. */
  readonly doubtfulHost: string | null;
}

type Answer = { readonly text: string; readonly statusCode: string };
/** The clock, the dice (evenly from [0, 1)) and the rule that the next attempt is planned by. */
type Planned = { readonly now: number; readonly random: number; readonly policy: RetryPolicy };

export type RecipientEvent =
  /** An attempt begins. */
  | { readonly type: 'tried' }
  /** It is due again now: whatever was under way was cut short, or an operator asks for it. */
  | { readonly type: 'due'; readonly now: number }
  /** There was no attempt after all: it waits once more, and that counts for nothing. */
  | ({ readonly type: 'postponed' } & Planned)
  | { readonly type: 'delivered'; readonly now: number }
  | ({ readonly type: 'deferred'; readonly doubtfulHost?: string | undefined } & Answer & Planned)
  | ({ readonly type: 'refused' } & Answer)
  /** There are no further attempts; the last reply stays, if there was one. */
  | ({ readonly type: 'abandoned' } & Answer)
  | { readonly type: 'revived'; readonly now: number };

type EventOf<T extends RecipientEvent['type']> = Extract<RecipientEvent, { type: T }>;

/** For the machine of the email. */
export type RecipientResult =
  | { readonly type: 'recipientDelivered' }
  | { readonly type: 'recipientDeferred'; readonly text: string; readonly retryCount: number; readonly now: number }
  | { readonly type: 'recipientFailed'; readonly text: string }
  | { readonly type: 'recipientRevived' };

const NEW: RecipientContext = {
  deliveredAt: null,
  lastError: null,
  statusCode: null,
  retryCount: 0,
  nextTryAt: null,
  doubtfulHost: null,
};

export const outboundRecipient = setup({
  types: {
    context: {} as RecipientContext,
    events: {} as RecipientEvent,
    emitted: {} as RecipientResult,
  },
  guards: {
    retriesExhausted: ({ context }, { policy }: EventOf<'deferred'>) => context.retryCount >= policy.maxRetries,
  },
  actions: {
    makeDue: assign((_, { now }: { now: number }) => ({ nextTryAt: now })),
    forgetDueTime: assign({ nextTryAt: null }),
    keepTime: assign((_, { now }: EventOf<'delivered'>) => ({ deliveredAt: now, nextTryAt: null })),
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
    beginAnew: assign((_, { now }: EventOf<'revived'>) => ({ retryCount: 0, nextTryAt: now })),
    reportDelivered: emit({ type: 'recipientDelivered' }),
    reportDeferred: emit(({ context }, { text, now }: EventOf<'deferred'>) => {
      return { type: 'recipientDeferred', text, retryCount: context.retryCount, now };
    }),
    reportFailed: emit((_, { text }: Answer) => ({ type: 'recipientFailed', text })),
    reportRevived: emit({ type: 'recipientRevived' }),
  },
}).createMachine({
  id: 'outboundRecipient',
  context: NEW,
  initial: 'Pending',
  states: {
    Pending: {
      on: {
        tried: { actions: 'forgetDueTime' },
        due: { actions: { type: 'makeDue', params: ({ event }) => event } },
        postponed: { actions: { type: 'wait', params: ({ event }) => event } },
        delivered: {
          target: 'Delivered',
          actions: [{ type: 'keepTime', params: ({ event }) => event }, 'reportDelivered'],
        },
        deferred: [
          {
            guard: { type: 'retriesExhausted', params: ({ event }) => event },
            target: 'Failed',
            actions: [
              { type: 'keepAnswer', params: ({ event }) => event },
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
            { type: 'reportFailed', params: ({ event }) => event },
          ],
        },
        abandoned: {
          target: 'Failed',
          actions: [
            { type: 'keepReason', params: ({ event }) => event },
            { type: 'reportFailed', params: ({ event }) => event },
          ],
        },
      },
    },
    Delivered: { type: 'final' },
    Failed: {
      on: {
        revived: { target: 'Pending', actions: [{ type: 'beginAnew', params: ({ event }) => event }, 'reportRevived'] },
      },
    },
  },
});

export type RecipientMachine = SnapshotFrom<typeof outboundRecipient>;

const transition = transitionsOf(outboundRecipient);

const stateOf = statesOf(outboundRecipient);

/** Due at the time; null: held, or its attempt begins at once. */
export function pendingRecipient(nextTryAt: number | null): RecipientMachine {
  return stateOf('Pending', { ...NEW, nextTryAt });
}

/** As it was stored. */
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
