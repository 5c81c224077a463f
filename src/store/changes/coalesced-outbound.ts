// The coalesced changes of outbound mail: one row per changed outbound email, with its changed recipients and its delivery attempts.
import type { MessageSummary } from '../../mail-format/summary.js';
import type {
  DeliveryAttempt,
  OutboundContent,
  OutboundRecipientRow,
  OutboundRow,
  OutboundStatus,
} from '../outbound.js';
import type { ChangeOf, LoggedOutbound, StoredOnly } from './changes.js';
import { LazyMap, LazySet } from './lazy-map.js';

interface CoalescedRecipient {
  readonly position: number;
  readonly recipient: OutboundRecipientRow;
}

interface CoalescedOutbound {
  readonly outbound: LoggedOutbound;
  /** Its status before the list; null when the list created it. */
  readonly before: OutboundStatus | null;
  /** Present when the list of recipients is new: recipients that are not in it are removed. */
  readonly recipientIds?: readonly string[];
  readonly recipients: readonly CoalescedRecipient[];
  /** Blobs of messages that the email no longer has. */
  readonly released: readonly string[];
  /** The list has changed its state and perhaps its copy, but neither its message nor its sender. */
  readonly isSameMessage: boolean;
  /** Absent when the record comes from the log. */
  readonly row?: OutboundRow;
  readonly content?: OutboundContent | null;
  readonly summary?: MessageSummary;
}

interface CoalescedAttempt {
  readonly outboundId: string;
  readonly attempt: DeliveryAttempt;
}

export interface CoalescedOutboundChanges {
  readonly outbound: readonly CoalescedOutbound[];
  readonly outboundRemoved: readonly string[];
  readonly attempts: readonly CoalescedAttempt[];
}

interface OutboundState {
  outbound: LoggedOutbound;
  readonly before: OutboundStatus | null;
  recipientIds: readonly string[] | undefined;
  readonly recipients: Map<string, CoalescedRecipient>;
  readonly blobs: Set<string>;
  isSameMessage: boolean;
  stored: Partial<StoredOnly>;
}

export class OutboundCoalescer {
  readonly #outbound = new LazyMap<string, OutboundState>();
  readonly #removed = new LazySet<string>();
  readonly #attempts: CoalescedAttempt[] = [];

  change({ payload, storedOnly }: ChangeOf<'OutboundChanged'>): void {
    const { outbound, before, recipientIds, released } = payload;
    let known = this.#outbound.get(outbound.id);
    if (known === undefined) {
      const lists = { recipients: new Map<string, CoalescedRecipient>(), blobs: new Set<string>() };
      known = { outbound, before, recipientIds, ...lists, isSameMessage: true, stored: {} };
      this.#outbound.set(outbound.id, known);
    }
    known.outbound = outbound;
    known.recipientIds = recipientIds ?? known.recipientIds;
    known.isSameMessage &&= storedOnly?.isSameMessage === true;
    known.stored = { ...known.stored, ...storedOnly };
    if (released !== undefined) known.blobs.add(released);
    known.blobs.delete(outbound.blob);
    if (recipientIds === undefined) return;
    const kept = new Set(recipientIds);
    for (const id of known.recipients.keys()) if (!kept.has(id)) known.recipients.delete(id);
  }

  changeRecipient({ outboundId, position, recipient }: ChangeOf<'RecipientChanged'>['payload']): void {
    this.#outbound.get(outboundId)!.recipients.set(recipient.id, { position, recipient });
  }

  /** Returns the blobs of its messages that the list created or released. */
  remove(id: string): readonly string[] {
    const known = this.#outbound.get(id);
    this.#outbound.delete(id);
    if (known === undefined || known.before !== null) this.#removed.add(id);
    if (known === undefined) return [];
    return known.before === null ? [...known.blobs, known.outbound.blob] : [...known.blobs];
  }

  attempt(attempt: CoalescedAttempt): void {
    this.#attempts.push(attempt);
  }

  result(): CoalescedOutboundChanges {
    return {
      outbound: this.#outbound.values().map(coalescedOutbound),
      outboundRemoved: this.#removed.values(),
      attempts: this.#attempts.filter(({ outboundId }) => !this.#removed.has(outboundId)),
    };
  }
}

function coalescedOutbound(coalesced: OutboundState): CoalescedOutbound {
  const { outbound, before, recipientIds, recipients, blobs, isSameMessage, stored } = coalesced;
  return {
    outbound,
    before,
    ...(recipientIds === undefined ? {} : { recipientIds }),
    recipients: [...recipients.values()],
    released: [...blobs],
    ...stored,
    isSameMessage,
  };
}
