// One recipient of an outbound email: Pending until it is Delivered or Failed. It is a child of its email's machine, which
// passes it the answers it got and is told what they came to. Delivered is final: nothing is delivered twice.
import { assign, sendParent, setup } from 'xstate';

interface RecipientContext {
  /** ms since the epoch. */
  readonly deliveredAt: number | null;
  /** The last answer that was no delivery. */
  readonly lastError: string | null;
  /** Its enhanced status code (RFC 3463). */
  readonly statusCode: string | null;
}

type Answer = { readonly text: string; readonly statusCode: string };

type RecipientEvent =
  | { readonly type: 'delivered'; readonly now: number }
  | ({ readonly type: 'deferred' } & Answer)
  | ({ readonly type: 'refused' } & Answer)
  /** Nobody tries any longer; what was answered last stays, should there have been an answer. */
  | ({ readonly type: 'abandoned' } & Answer)
  | { readonly type: 'revived' };

/** What the email's machine is told. */
export type RecipientNews =
  | { readonly type: 'recipientDelivered' }
  | { readonly type: 'recipientDeferred'; readonly text: string }
  | { readonly type: 'recipientFailed'; readonly text: string }
  | { readonly type: 'recipientRevived' };

export const outboundRecipient = setup({
  types: { context: {} as RecipientContext, events: {} as RecipientEvent },
  actions: {
    keepTime: assign(({ event }) => (event.type === 'delivered' ? { deliveredAt: event.now } : {})),
    keepAnswer: assign(({ event }) =>
      event.type === 'deferred' || event.type === 'refused'
        ? { lastError: event.text, statusCode: event.statusCode }
        : {},
    ),
    keepReason: assign(({ context, event }) =>
      event.type === 'abandoned' && context.lastError === null
        ? { lastError: event.text, statusCode: event.statusCode }
        : {},
    ),
    tellDelivered: sendParent({ type: 'recipientDelivered' }),
    tellDeferred: sendParent(({ context }) => ({ type: 'recipientDeferred', text: context.lastError })),
    tellFailed: sendParent(({ context }) => ({ type: 'recipientFailed', text: context.lastError })),
    tellRevived: sendParent({ type: 'recipientRevived' }),
  },
}).createMachine({
  id: 'outboundRecipient',
  context: { deliveredAt: null, lastError: null, statusCode: null },
  initial: 'Pending',
  states: {
    Pending: {
      on: {
        delivered: { target: 'Delivered', actions: ['keepTime', 'tellDelivered'] },
        deferred: { actions: ['keepAnswer', 'tellDeferred'] },
        refused: { target: 'Failed', actions: ['keepAnswer', 'tellFailed'] },
        abandoned: { target: 'Failed', actions: ['keepReason', 'tellFailed'] },
      },
    },
    Delivered: { type: 'final' },
    Failed: { on: { revived: { target: 'Pending', actions: 'tellRevived' } } },
  },
});
