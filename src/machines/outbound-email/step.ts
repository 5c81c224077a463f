// One step of an outbound email: its stored snapshot and what happened, to the snapshot to be stored and what that means.
// Pure: effects are handed out for after the commit.
import { createActor, type Snapshot } from 'xstate';
import type { OutboundStatus, RecipientStatus } from '../../mail/outbound-status.js';
import { outboundEmail } from './machine.js';
import { firstDue, readable, type StoredSnapshot } from './stored-snapshot.js';
import type { Effect, OutboundEmailContext, OutboundEmailEvent } from './types.js';

interface RecipientState {
  readonly status: RecipientStatus;
  /** ms since the epoch. */
  readonly deliveredAt: number | null;
  readonly lastError: string | null;
  readonly statusCode: string | null;
  readonly retryCount: number;
  /** While Pending: when it is due; null while an attempt is under way or the email is held. */
  readonly nextTryAt: number | null;
}

export interface Step extends Omit<OutboundEmailContext, 'pending' | 'failed' | 'hasSender'> {
  /** Plain JSON. */
  readonly snapshot: unknown;
  readonly status: OutboundStatus;
  /** When the first of the recipients that wait is due; null when none waits. */
  readonly nextRetryAt: number | null;
  /** By id. */
  readonly recipients: ReadonlyMap<string, RecipientState>;
  readonly effects: readonly Effect[];
}

/** `snapshot`: what the step before gave; null for an email that begins as a draft. */
export function step(snapshot: unknown, ...events: readonly OutboundEmailEvent[]): Step {
  const before =
    snapshot === null ? {} : { snapshot: readable(snapshot as StoredSnapshot) as unknown as Snapshot<unknown> };
  const actor = createActor(outboundEmail, before);
  const effects: Effect[] = [];
  actor.on('*', (effect) => effects.push(effect));
  actor.start();
  for (const event of events) actor.send(event);
  const { value, context, children } = actor.getSnapshot();
  const recipients = new Map<string, RecipientState>();
  for (const [id, child] of Object.entries(children)) {
    const recipient = child!.getSnapshot();
    recipients.set(id, { status: recipient.value, ...recipient.context });
  }
  const nextRetryAt = firstDue(recipients.values());
  const stored = { ...actor.getPersistedSnapshot(), context: { ...context, nextRetryAt } };
  const { pending: _pending, failed: _failed, hasSender: _hasSender, ...rest } = context;
  return { ...rest, snapshot: stored, status: value, nextRetryAt, recipients, effects };
}
