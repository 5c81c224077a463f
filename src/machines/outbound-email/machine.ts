// The states of an outbound email (docs/interface/mail.md, "Outbound email"; decisions 0008 and 0052), with one child machine a
// recipient. The machine is pure: no invoke, no after, no timers, so a snapshot may be restored at any point. Its effects are
// carried out after the commit. A draft is its first state and is stored without a snapshot: the machine starts when the draft
// is sent.
import { type ActorRefFrom, assign, emit, enqueueActions, setup } from 'xstate';
import { outboundRecipient } from '../outbound-recipient/machine.js';
import type { Effect, MachineEvent, OutboundEmailContext, OutboundEmailEvent } from './types.js';

/** After this long in the queue the sender is notified of the delay. */
const DELAY_NOTICE_MS = 4 * 3_600_000;

const CANCELLED = {
  operator: { type: 'abandoned', text: 'Cancelled by the operator.', statusCode: '5.0.0' },
  sender: { type: 'abandoned', text: 'Cancelled by the sender.', statusCode: '5.0.0' },
} as const;

type EventOf<T extends OutboundEmailEvent['type']> = Extract<OutboundEmailEvent, { type: T }>;

function recipientEvent({ kind, now, random, policy, text, statusCode }: EventOf<'answer'>) {
  if (kind === 'delivered') return { type: 'delivered', now } as const;
  if (kind === 'permanent') return { type: 'refused', text, statusCode } as const;
  return { type: 'deferred', text, statusCode, now, random, policy } as const;
}

type Recipient = ActorRefFrom<typeof outboundRecipient>;
interface WithRecipients {
  getSnapshot(): { readonly children: Readonly<Record<string, Recipient | undefined>> };
}

function pendingOf(self: WithRecipients): Recipient[] {
  return Object.values(self.getSnapshot().children).filter(
    (recipient): recipient is Recipient => recipient?.getSnapshot().value === 'Pending',
  );
}

/** Recipients whose attempts are under way. */
function triedOf(self: WithRecipients): Recipient[] {
  return pendingOf(self).filter((recipient) => recipient.getSnapshot().context.nextTryAt === null);
}

export const outboundEmail = setup({
  types: { context: {} as OutboundEmailContext, events: {} as MachineEvent, emitted: {} as Effect },
  actors: { recipient: outboundRecipient },
  guards: {
    allDelivered: ({ context }) => context.pending === 0 && context.failed === 0,
    nonePending: ({ context }) => context.pending === 0,
    interrupted: (_, { isInterrupted }: EventOf<'end'>) => isInterrupted,
    toBeHeld: (_, { heldUntil }: EventOf<'enqueue'>) => heldUntil !== undefined,
    released: ({ context }) => context.heldUntil === null,
    bySender: (_, { by }: EventOf<'cancel'>) => by === 'sender',
  },
  actions: {
    spawnRecipients: enqueueActions(({ enqueue }, { recipientIds, now, heldUntil }: EventOf<'enqueue'>) => {
      const nextTryAt = heldUntil === undefined ? now : null;
      for (const id of recipientIds) enqueue.spawnChild('recipient', { id, input: { nextTryAt } });
    }),
    tryDue: enqueueActions(({ enqueue, self }, { now }: EventOf<'start'>) => {
      for (const recipient of pendingOf(self)) {
        const { nextTryAt } = recipient.getSnapshot().context;
        if (nextTryAt !== null && nextTryAt <= now) enqueue.sendTo(recipient, { type: 'tried' });
      }
    }),
    passOn: enqueueActions(({ enqueue, self }, answer: EventOf<'answer'>) => {
      const recipient = self.getSnapshot().children[answer.recipientId];
      if (recipient?.getSnapshot().value === 'Pending') enqueue.sendTo(recipient, recipientEvent(answer));
    }),
    postpone: enqueueActions(({ enqueue, self }, { recipientIds, now, random, policy }: EventOf<'postpone'>) => {
      for (const recipient of triedOf(self)) {
        if (recipientIds.includes(recipient.id)) enqueue.sendTo(recipient, { type: 'postponed', now, random, policy });
      }
    }),
    makeTriedDue: enqueueActions(({ enqueue, self }, { now, random, policy, isInterrupted }: EventOf<'end'>) => {
      const event = isInterrupted
        ? ({ type: 'due', now } as const)
        : { type: 'postponed' as const, now, random, policy };
      for (const recipient of triedOf(self)) enqueue.sendTo(recipient, event);
    }),
    makeDue: enqueueActions(({ enqueue, self }, { now }: { now: number }) => {
      for (const recipient of pendingOf(self)) enqueue.sendTo(recipient, { type: 'due', now });
    }),
    abandonPending: enqueueActions(({ enqueue, self }, { by }: EventOf<'cancel'>) => {
      for (const recipient of pendingOf(self)) enqueue.sendTo(recipient, CANCELLED[by]);
    }),
    reviveFailed: enqueueActions(({ enqueue, self }, { now }: EventOf<'retry'>) => {
      for (const recipient of Object.values(self.getSnapshot().children)) {
        if (recipient?.getSnapshot().value === 'Failed') enqueue.sendTo(recipient, { type: 'revived', now });
      }
    }),
    noteQueued: assign((_, { now, recipientIds, hasSender, heldUntil }: EventOf<'enqueue'>) => ({
      pending: recipientIds.length,
      hasSender,
      queuedAt: heldUntil ?? now,
      heldUntil: heldUntil ?? null,
    })),
    endHold: assign(({ context }, { now }: { now: number }) =>
      context.heldUntil === null ? {} : { heldUntil: null, queuedAt: now },
    ),
    forgetHold: assign({ heldUntil: null }),
    beginAnew: assign((_, { now }: EventOf<'retry'>) => ({ queuedAt: now, retryCount: 0, reportDue: null })),
    notifyDue: emit({ type: 'due' }),
    reportDelay: enqueueActions(({ enqueue, context }, { now }: { now: number }) => {
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
    noteSent: assign((_, { now }: { now: number }) => ({ sentAt: now })),
    announceQueued: emit({ type: 'announce', status: 'Queued' }),
    announceSending: emit({ type: 'announce', status: 'Sending' }),
    announceSent: emit({ type: 'announce', status: 'Sent' }),
    announceFailed: emit({ type: 'announce', status: 'Failed' }),
    countDelivered: assign(({ context }) => ({ pending: context.pending - 1 })),
    countFailed: assign(({ context }) => ({ pending: context.pending - 1, failed: context.failed + 1 })),
    countRevived: assign(({ context }) => ({ pending: context.pending + 1, failed: context.failed - 1 })),
    keepError: assign((_, { text }: { text: string }) => ({ lastError: text })),
    countRetry: assign(({ context }, { retryCount }: { retryCount: number }) => ({
      retryCount: Math.max(context.retryCount, retryCount),
    })),
  },
}).createMachine({
  id: 'outboundEmail',
  context: {
    pending: 0,
    failed: 0,
    hasSender: false,
    queuedAt: null,
    heldUntil: null,
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
    recipientDeferred: {
      actions: [
        { type: 'keepError', params: ({ event }) => event },
        { type: 'countRetry', params: ({ event }) => event },
        { type: 'reportDelay', params: ({ event }) => event },
      ],
    },
    recipientFailed: { actions: ['countFailed', { type: 'keepError', params: ({ event }) => event }] },
    recipientRevived: { actions: 'countRevived' },
    reported: { actions: 'forgetReport' },
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
              { type: 'spawnRecipients', params: ({ event }) => event },
            ],
          },
          {
            target: 'Queued',
            actions: [
              { type: 'noteQueued', params: ({ event }) => event },
              { type: 'spawnRecipients', params: ({ event }) => event },
              'notifyDue',
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
        retry: {
          actions: [
            { type: 'makeDue', params: ({ event }) => event },
            { type: 'endHold', params: ({ event }) => event },
            'notifyDue',
          ],
        },
        cancel: [
          {
            guard: { type: 'bySender', params: ({ event }) => event },
            target: 'Failed',
            actions: [{ type: 'abandonPending', params: ({ event }) => event }, 'forgetHold', 'forgetReport'],
          },
          {
            target: 'Failed',
            actions: [{ type: 'abandonPending', params: ({ event }) => event }, 'forgetHold', 'reportFailure'],
          },
        ],
      },
    },
    // As long as attempts are under way for some recipient; others wait for their next one meanwhile, and get it.
    Sending: {
      entry: 'announceSending',
      on: {
        start: { actions: { type: 'tryDue', params: ({ event }) => event } },
        answer: { actions: { type: 'passOn', params: ({ event }) => event } },
        postpone: { actions: { type: 'postpone', params: ({ event }) => event } },
        end: [
          {
            guard: 'allDelivered',
            target: 'Sent',
            actions: { type: 'noteSent', params: ({ event }) => event },
          },
          { guard: 'nonePending', target: 'Failed', actions: 'reportFailure' },
          {
            guard: { type: 'interrupted', params: ({ event }) => event },
            target: 'Queued',
            actions: [
              { type: 'makeTriedDue', params: ({ event }) => event },
              { type: 'reportDelay', params: ({ event }) => event },
              'notifyDue',
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
    // Not of type final: a machine that has ended drops its children, and what became of them is to be kept.
    Sent: { entry: ['forgetReport', 'announceSent'] },
    Failed: {
      entry: 'announceFailed',
      on: {
        retry: {
          target: 'Queued',
          actions: [
            { type: 'reviveFailed', params: ({ event }) => event },
            { type: 'beginAnew', params: ({ event }) => event },
            'notifyDue',
          ],
        },
      },
    },
  },
});
