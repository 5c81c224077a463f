// The life of an outbound email (interface, section 3; D8), with one child machine a recipient. It decides and does nothing:
// no invoke, no after, no timers, so a snapshot may be restored at any point. What is to be done it emits as effects, which
// are for after the commit. Drafts are its first state: they have nothing to decide yet, so they are stored without a
// snapshot and the machine begins when one is sent.
import { assign, emit, enqueueActions, setup } from 'xstate';
import { outboundRecipient } from '../outbound-recipient/machine.js';
import { retryDelay } from './retry.js';
import type { Effect, MachineEvent, OutboundEmailContext, OutboundEmailEvent } from './types.js';

/** After this long in the queue the sender is told of the delay. */
const DELAY_NOTICE_MS = 4 * 3_600_000;

const ABANDONED = { type: 'abandoned', text: 'It could not be delivered in time.', statusCode: '4.4.7' } as const;
const CANCELLED = { type: 'abandoned', text: 'Cancelled by the operator.', statusCode: '5.0.0' } as const;

type EventOf<T extends OutboundEmailEvent['type']> = Extract<OutboundEmailEvent, { type: T }>;

function recipientEvent({ kind, now, text, statusCode }: EventOf<'answer'>) {
  if (kind === 'delivered') return { type: 'delivered', now } as const;
  return { type: kind === 'temporary' ? 'deferred' : 'refused', text, statusCode } as const;
}

export const outboundEmail = setup({
  types: { context: {} as OutboundEmailContext, events: {} as MachineEvent, emitted: {} as Effect },
  actors: { recipient: outboundRecipient },
  guards: {
    allDelivered: ({ context }) => context.pending === 0 && context.failed === 0,
    nonePending: ({ context }) => context.pending === 0,
    interrupted: (_, { isInterrupted }: EventOf<'end'>) => isInterrupted,
    retriesExhausted: ({ context }, { policy }: EventOf<'end'>) => context.retryCount >= policy.maxRetries,
  },
  actions: {
    spawnRecipients: enqueueActions(({ enqueue }, { recipientIds }: EventOf<'enqueue'>) => {
      for (const id of recipientIds) enqueue.spawnChild('recipient', { id });
    }),
    passOn: enqueueActions(({ enqueue, self }, answer: EventOf<'answer'>) => {
      const recipient = self.getSnapshot().children[answer.recipientId];
      if (recipient?.getSnapshot().value === 'Pending') enqueue.sendTo(recipient, recipientEvent(answer));
    }),
    abandonPending: enqueueActions(({ enqueue, self }, { type }: EventOf<'end' | 'cancel'>) => {
      const event = type === 'cancel' ? CANCELLED : ABANDONED;
      for (const recipient of Object.values(self.getSnapshot().children)) {
        if (recipient?.getSnapshot().value === 'Pending') enqueue.sendTo(recipient, event);
      }
    }),
    reviveFailed: enqueueActions(({ enqueue, self }) => {
      for (const recipient of Object.values(self.getSnapshot().children)) {
        if (recipient?.getSnapshot().value === 'Failed') enqueue.sendTo(recipient, { type: 'revived' });
      }
    }),
    noteQueued: assign((_, { now, recipientIds, hasSender }: EventOf<'enqueue'>) => ({
      pending: recipientIds.length,
      hasSender,
      queuedAt: now,
    })),
    beginAnew: assign((_, { now }: EventOf<'retry'>) => ({ queuedAt: now, retryCount: 0, reportDue: null })),
    makeDue: assign((_, { now }: { now: number }) => ({ nextRetryAt: now })),
    wake: emit({ type: 'wake' }),
    backOff: assign(({ context }, { now, policy, random }: EventOf<'end'>) => ({
      retryCount: context.retryCount + 1,
      nextRetryAt: now + retryDelay(policy, context.retryCount, random),
    })),
    reportDelay: enqueueActions(({ enqueue, context }, { now }: EventOf<'end'>) => {
      const { hasSender, delayReported, queuedAt } = context;
      if (!hasSender || delayReported || now - (queuedAt ?? now) < DELAY_NOTICE_MS) return;
      enqueue.assign({ reportDue: 'delayed', delayReported: true });
      enqueue.emit({ type: 'report', kind: 'delayed' });
    }),
    reportFailure: enqueueActions(({ enqueue, context }) => {
      enqueue.assign({ reportDue: context.hasSender ? 'failed' : null });
      if (context.hasSender) enqueue.emit({ type: 'report', kind: 'failed' });
    }),
    forgetReport: assign({ reportDue: null }),
    forgetDueTime: assign({ nextRetryAt: null }),
    noteSent: assign((_, { now }: { now: number }) => ({ sentAt: now })),
    announceQueued: emit({ type: 'announce', status: 'Queued' }),
    announceSending: emit({ type: 'announce', status: 'Sending' }),
    announceSent: emit({ type: 'announce', status: 'Sent' }),
    announceFailed: emit({ type: 'announce', status: 'Failed' }),
    countDelivered: assign(({ context }) => ({ pending: context.pending - 1 })),
    countFailed: assign(({ context }) => ({ pending: context.pending - 1, failed: context.failed + 1 })),
    countRevived: assign(({ context }) => ({ pending: context.pending + 1, failed: context.failed - 1 })),
    keepError: assign((_, { text }: { text: string }) => ({ lastError: text })),
  },
}).createMachine({
  id: 'outboundEmail',
  context: {
    pending: 0,
    failed: 0,
    hasSender: false,
    queuedAt: null,
    nextRetryAt: null,
    retryCount: 0,
    lastError: null,
    sentAt: null,
    reportDue: null,
    delayReported: false,
  },
  initial: 'Draft',
  on: {
    // Children answer after the transition that asked them, in whatever state that led to.
    recipientDelivered: { actions: 'countDelivered' },
    recipientDeferred: { actions: { type: 'keepError', params: ({ event }) => event } },
    recipientFailed: { actions: ['countFailed', { type: 'keepError', params: ({ event }) => event }] },
    recipientRevived: { actions: 'countRevived' },
    reported: { actions: 'forgetReport' },
  },
  states: {
    Draft: {
      on: {
        enqueue: {
          target: 'Queued',
          actions: [
            { type: 'noteQueued', params: ({ event }) => event },
            { type: 'spawnRecipients', params: ({ event }) => event },
            { type: 'makeDue', params: ({ event }) => event },
            'wake',
          ],
        },
      },
    },
    Queued: {
      entry: 'announceQueued',
      on: {
        start: { target: 'Sending' },
        retry: { actions: [{ type: 'makeDue', params: ({ event }) => event }, 'wake'] },
        cancel: { target: 'Failed', actions: { type: 'abandonPending', params: ({ event }) => event } },
      },
    },
    Sending: {
      entry: ['forgetDueTime', 'announceSending'],
      on: {
        // Another delivery takes the place of one that nobody makes any more: it is Sending still.
        start: {},
        answer: { actions: { type: 'passOn', params: ({ event }) => event } },
        end: [
          {
            guard: 'allDelivered',
            target: 'Sent',
            actions: { type: 'noteSent', params: ({ event }) => event },
          },
          { guard: 'nonePending', target: 'Failed' },
          {
            guard: { type: 'interrupted', params: ({ event }) => event },
            target: 'Queued',
            actions: [
              { type: 'makeDue', params: ({ event }) => event },
              { type: 'reportDelay', params: ({ event }) => event },
              'wake',
            ],
          },
          {
            guard: { type: 'retriesExhausted', params: ({ event }) => event },
            target: 'Failed',
            actions: { type: 'abandonPending', params: ({ event }) => event },
          },
          {
            target: 'Queued',
            actions: [
              { type: 'backOff', params: ({ event }) => event },
              { type: 'reportDelay', params: ({ event }) => event },
            ],
          },
        ],
      },
    },
    // Not of type final: a machine that has ended drops its children, and what became of them is to be kept.
    Sent: { entry: ['forgetReport', 'announceSent'] },
    Failed: {
      entry: ['forgetDueTime', 'reportFailure', 'announceFailed'],
      on: {
        retry: {
          target: 'Queued',
          actions: [
            'reviveFailed',
            { type: 'beginAnew', params: ({ event }) => event },
            { type: 'makeDue', params: ({ event }) => event },
            'wake',
          ],
        },
      },
    },
  },
});
