// The states of an outbound email (docs/interface/mail.md, "Outbound email"; decisions 0008 and 0052), with one machine per recipient in
// its context. The machine has no invoke, no after and no timers, so a snapshot may be restored at any point. Its effects run after the
// commit. A draft is the initial state and is stored without a snapshot: the machine starts when the draft is sent, and an email that its
// sender cancels before its time becomes the draft again.
import { assign, emit, enqueueActions, setup } from 'xstate';
import {
  pendingRecipient,
  type RecipientEvent,
  type RecipientResult,
  recipientAfter,
} from '../outbound-recipient/machine.js';
import type { Effect, MachineContext, MachineEvent, OutboundEmailEvent } from './types.js';

/** After this time in the queue the sender is notified of the delay. */
const DELAY_NOTICE_MS = 4 * 3_600_000;

const CANCELLED = {
  operator: { type: 'abandoned', text: 'Cancelled by the operator.', statusCode: '5.0.0', isKnown: false },
  sender: { type: 'abandoned', text: 'Cancelled by the sender.', statusCode: '5.0.0', isKnown: true },
} as const;

const DRAFT = {
  pending: 0,
  failed: 0,
  queuedAt: null,
  heldUntil: null,
  retryCount: 0,
  lastError: null,
  sentAt: null,
  delayReported: false,
};

type EventOf<T extends OutboundEmailEvent['type']> = Extract<OutboundEmailEvent, { type: T }>;

function recipientEvent({ kind, now, random, policy, text, statusCode, doubtfulHost, onward }: EventOf<'answer'>) {
  if (kind === 'delivered') return { type: 'delivered', now, onward } as const;
  if (kind === 'permanent') return { type: 'refused', text, statusCode, now } as const;
  return { type: 'deferred', text, statusCode, now, random, policy, doubtfulHost } as const;
}

type Recipients = MachineContext['recipients'];

const pendingOf = (recipients: Recipients) => [...recipients].filter(([, { value }]) => value === 'Pending');

/** Recipients whose attempts are in progress. */
const triedOf = (recipients: Recipients) =>
  pendingOf(recipients).filter(([, { context }]) => context.nextTryAt === null);

const isOwing = (recipients: Recipients) => [...recipients.values()].some(({ context }) => context.owes !== null);

/** Sends an event to some of the recipients; returns the results that they report. */
function tell(
  recipients: Recipients,
  some: ReturnType<typeof pendingOf>,
  event: RecipientEvent,
): readonly RecipientResult[] {
  return some.flatMap(([id, recipient]) => {
    const { recipient: after, results } = recipientAfter(recipient, event);
    recipients.set(id, after);
    return results;
  });
}

export const outboundEmail = setup({
  types: { context: {} as MachineContext, events: {} as MachineEvent, emitted: {} as Effect },
  guards: {
    allDelivered: ({ context }) => context.pending === 0 && context.failed === 0,
    nonePending: ({ context }) => context.pending === 0,
    interrupted: (_, { isInterrupted }: EventOf<'end'>) => isInterrupted,
    toBeHeld: (_, { heldUntil }: EventOf<'enqueue'>) => heldUntil !== undefined,
    begins: (_, { begins }: EventOf<'enqueue'>) => begins === true,
    released: ({ context }) => context.heldUntil === null,
    undone: ({ context }, { by }: EventOf<'cancel'>) => context.heldUntil !== null && by === 'sender',
  },
  actions: {
    addRecipients({ context: { recipients } }, { recipients: added, now, heldUntil, begins }: EventOf<'enqueue'>) {
      const nextTryAt = heldUntil === undefined && begins !== true ? now : null;
      for (const { id, notify } of added) recipients.set(id, pendingRecipient(nextTryAt, notify));
    },
    tryDue({ context: { recipients } }, { now }: EventOf<'start'>) {
      const due = pendingOf(recipients).filter(
        ([, { context }]) => context.nextTryAt !== null && context.nextTryAt <= now,
      );
      tell(recipients, due, { type: 'tried' });
    },
    passOn: enqueueActions(({ enqueue, context: { recipients } }, answer: EventOf<'answer'>) => {
      const { recipientId: id } = answer;
      const recipient = recipients.get(id);
      if (recipient?.value !== 'Pending') return;
      for (const result of tell(recipients, [[id, recipient]], recipientEvent(answer))) enqueue.raise(result);
    }),
    postpone({ context: { recipients } }, { recipientIds, now, random, policy }: EventOf<'postpone'>) {
      const untried = triedOf(recipients).filter(([id]) => recipientIds.includes(id));
      tell(recipients, untried, { type: 'postponed', now, random, policy });
    },
    makeTriedDue({ context: { recipients } }, { now, random, policy, isInterrupted }: EventOf<'end'>) {
      const event = isInterrupted
        ? ({ type: 'due', now } as const)
        : { type: 'postponed' as const, now, random, policy };
      tell(recipients, triedOf(recipients), event);
    },
    makeDue({ context: { recipients } }, { now }: { now: number }) {
      tell(recipients, pendingOf(recipients), { type: 'due', now });
    },
    abandonPending: enqueueActions(({ enqueue, context: { recipients } }, { by, now }: EventOf<'cancel'>) => {
      for (const result of tell(recipients, pendingOf(recipients), { ...CANCELLED[by], now })) enqueue.raise(result);
    }),
    failBounced: enqueueActions(({ enqueue, context: { recipients } }, event: EventOf<'bounce'>) => {
      for (const { id, text, statusCode } of event.recipients) {
        const recipient = recipients.get(id);
        if (recipient?.value !== 'Delivered') continue;
        for (const result of tell(recipients, [[id, recipient]], { type: 'bounced', text, statusCode }))
          enqueue.raise(result);
      }
    }),
    reviveFailed: enqueueActions(({ enqueue, context: { recipients } }, { now }: EventOf<'retry'>) => {
      const failed = [...recipients].filter(([, { value }]) => value === 'Failed');
      for (const result of tell(recipients, failed, { type: 'revived', now })) enqueue.raise(result);
    }),
    noteQueued: assign((_, { now, recipients, heldUntil }: EventOf<'enqueue'>) => ({
      pending: recipients.length,
      queuedAt: heldUntil ?? now,
      heldUntil: heldUntil ?? null,
    })),
    endHold: assign(({ context }, { now }: { now: number }) =>
      context.heldUntil === null ? {} : { heldUntil: null, queuedAt: now },
    ),
    forgetHold: assign({ heldUntil: null }),
    forgetSending: assign(() => ({ ...DRAFT, recipients: new Map() })),
    resetRetries: assign((_, { now }: EventOf<'retry'>) => ({ queuedAt: now, retryCount: 0 })),
    wakeQueue: emit({ type: 'due' }),
    reportDelay: enqueueActions(({ enqueue, context }, { now }: { now: number }) => {
      const { delayReported, queuedAt, recipients } = context;
      if (delayReported || now - (queuedAt ?? now) < DELAY_NOTICE_MS) return;
      tell(recipients, pendingOf(recipients), { type: 'late', now });
      enqueue.assign({ delayReported: true });
      if (isOwing(recipients)) enqueue.emit({ type: 'report' });
    }),
    reportAll: enqueueActions(({ enqueue, context: { recipients } }, { now }: { now: number }) => {
      if (!isOwing(recipients)) return;
      tell(recipients, [...recipients], { type: 'settled', now });
      enqueue.emit({ type: 'report' });
    }),
    noteReported({ context: { recipients } }, { kind, recipientIds }: EventOf<'reported'>) {
      const told = [...recipients].filter(
        ([id, { context }]) => context.owes?.kind === kind && recipientIds.includes(id),
      );
      tell(recipients, told, { type: 'told' });
    },
    noteSent: assign((_, { now }: { now: number }) => ({ sentAt: now })),
    announceDraft: emit({ type: 'announce', status: 'Draft' }),
    announceQueued: emit({ type: 'announce', status: 'Queued' }),
    announceSending: emit({ type: 'announce', status: 'Sending' }),
    announceSent: emit({ type: 'announce', status: 'Sent' }),
    announceFailed: emit({ type: 'announce', status: 'Failed' }),
    countDelivered: assign(({ context }) => ({ pending: context.pending - 1 })),
    countFailed: assign(({ context }) => ({ pending: context.pending - 1, failed: context.failed + 1 })),
    countBounced: assign(({ context }) => ({ failed: context.failed + 1 })),
    countRevived: assign(({ context }) => ({ pending: context.pending + 1, failed: context.failed - 1 })),
    keepError: assign((_, { text }: { text: string }) => ({ lastError: text })),
    countRetry: assign(({ context }, { retryCount }: { retryCount: number }) => ({
      retryCount: Math.max(context.retryCount, retryCount),
    })),
  },
}).createMachine({
  id: 'outboundEmail',
  context: { ...DRAFT, recipients: new Map() },
  initial: 'Draft',
  on: {
    // Results of recipients are handled after the transition that caused them, in whatever state it ended.
    recipientDelivered: { actions: 'countDelivered' },
    recipientDeferred: {
      actions: [
        { type: 'keepError', params: ({ event }) => event },
        { type: 'countRetry', params: ({ event }) => event },
        { type: 'reportDelay', params: ({ event }) => event },
      ],
    },
    recipientFailed: { actions: ['countFailed', { type: 'keepError', params: ({ event }) => event }] },
    recipientBounced: { actions: ['countBounced', { type: 'keepError', params: ({ event }) => event }] },
    recipientRevived: { actions: 'countRevived' },
    reported: { actions: { type: 'noteReported', params: ({ event }) => event } },
  },
  states: {
    Draft: {
      on: {
        enqueue: [
          {
            guard: { type: 'toBeHeld', params: ({ event }) => event },
            target: 'Queued',
            actions: [
              { type: 'noteQueued', params: ({ event }) => event },
              { type: 'addRecipients', params: ({ event }) => event },
            ],
          },
          // The email passes through Queued: clients and the log see both states.
          {
            guard: { type: 'begins', params: ({ event }) => event },
            target: 'Sending',
            actions: [
              { type: 'noteQueued', params: ({ event }) => event },
              { type: 'addRecipients', params: ({ event }) => event },
              'announceQueued',
            ],
          },
          {
            target: 'Queued',
            actions: [
              { type: 'noteQueued', params: ({ event }) => event },
              { type: 'addRecipients', params: ({ event }) => event },
              'wakeQueue',
            ],
          },
        ],
      },
    },
    // While the email is held no recipient is due; `retry` releases the email.
    Queued: {
      entry: 'announceQueued',
      on: {
        start: {
          guard: 'released',
          target: 'Sending',
          actions: { type: 'tryDue', params: ({ event }) => event },
        },
        bounce: { actions: { type: 'failBounced', params: ({ event }) => event } },
        retry: {
          actions: [
            { type: 'makeDue', params: ({ event }) => event },
            { type: 'endHold', params: ({ event }) => event },
            'wakeQueue',
          ],
        },
        cancel: [
          {
            guard: { type: 'undone', params: ({ event }) => event },
            target: 'Draft',
            actions: ['forgetSending', 'announceDraft'],
          },
          {
            target: 'Failed',
            actions: [
              { type: 'abandonPending', params: ({ event }) => event },
              'forgetHold',
              { type: 'reportAll', params: ({ event }) => event },
            ],
          },
        ],
      },
    },
    // Attempts are in progress for at least one recipient; other recipients that become due are tried too.
    Sending: {
      entry: 'announceSending',
      on: {
        start: { actions: { type: 'tryDue', params: ({ event }) => event } },
        answer: { actions: { type: 'passOn', params: ({ event }) => event } },
        postpone: { actions: { type: 'postpone', params: ({ event }) => event } },
        bounce: { actions: { type: 'failBounced', params: ({ event }) => event } },
        end: [
          {
            guard: 'allDelivered',
            target: 'Sent',
            actions: [
              { type: 'noteSent', params: ({ event }) => event },
              { type: 'reportAll', params: ({ event }) => event },
            ],
          },
          {
            guard: 'nonePending',
            target: 'Failed',
            actions: { type: 'reportAll', params: ({ event }) => event },
          },
          {
            guard: { type: 'interrupted', params: ({ event }) => event },
            target: 'Queued',
            actions: [
              { type: 'makeTriedDue', params: ({ event }) => event },
              { type: 'reportDelay', params: ({ event }) => event },
              'wakeQueue',
            ],
          },
          {
            target: 'Queued',
            actions: [
              { type: 'makeTriedDue', params: ({ event }) => event },
              { type: 'reportDelay', params: ({ event }) => event },
            ],
          },
        ],
      },
    },
    Sent: {
      entry: 'announceSent',
      on: {
        bounce: { target: 'Failed', actions: { type: 'failBounced', params: ({ event }) => event } },
      },
    },
    Failed: {
      entry: 'announceFailed',
      on: {
        // Clients are told of each recipient that fails.
        bounce: {
          target: 'Failed',
          reenter: true,
          actions: { type: 'failBounced', params: ({ event }) => event },
        },
        retry: {
          target: 'Queued',
          actions: [
            { type: 'reviveFailed', params: ({ event }) => event },
            { type: 'resetRetries', params: ({ event }) => event },
            'wakeQueue',
          ],
        },
      },
    },
  },
});
