// What becomes of an email that was sent: its detail and its attempts, and from both the steps of each recipient.
import type { Observable } from 'rxjs';
import type { OutboundState, RecipientTimeline, TimelineStep } from './client-types.js';
import type { DeliveryAttempt, OutboundEmail } from './generated/rest.js';
import type { ClientEvent, HubLink } from './hub/hub-link.js';
import { refreshed } from './refreshed.js';
import { NotFound } from './refusal.js';
import type { Rest } from './rest.js';

/** An email is read again this often while its attempts come. ms */
const LEAST_MS = 250;

export function outboundState(id: string, rest: Rest, link: HubLink): Observable<OutboundState> {
  const copies = new SentCopies(rest);
  return refreshed<OutboundState>(link, {
    leastMs: LEAST_MS,
    async read() {
      const [email, attempts] = await Promise.all([
        rest.request('GET', '/api/outbound/{id}', { params: { id } }),
        rest.request('GET', '/api/outbound/{id}/timeline', { params: { id } }),
      ]);
      const queuedAt = await copies.placedAt(email.sentEmailId);
      const { queuePosition } = email;
      return { email, attempts, queuePosition, queuedAt, timeline: timelineOf(email, attempts, queuedAt) };
    },
    touch: (event, newest) => (isAbout(id, event) ? touched(event, newest) : undefined),
  });
}

/** The copy in Sent is placed when an email is queued; `createdAt` of the email is the time of its draft. */
class SentCopies {
  readonly #rest: Rest;
  #known: { readonly id: string; readonly at: string | null } | undefined;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** ISO 8601; null without a copy. */
  async placedAt(id: string | null): Promise<string | null> {
    if (id === null) return null;
    if (this.#known?.id !== id) this.#known = { id, at: await this.#read(id) };
    return this.#known.at;
  }

  async #read(id: string): Promise<string | null> {
    try {
      return (await this.#rest.request('GET', '/api/emails/{id}', { params: { id } })).receivedAt;
    } catch (error) {
      // A copy that was deleted tells no time.
      if (error instanceof NotFound) return null;
      throw error;
    }
  }
}

function isAbout(id: string, { payload }: ClientEvent): boolean {
  return typeof payload === 'object' && 'id' in payload && payload.id === id;
}

function touched(event: ClientEvent, newest: OutboundState): OutboundState | 'read' | undefined {
  switch (event.type) {
    case 'QueuePositionChanged':
      return { ...newest, queuePosition: event.payload.position };
    case 'DeliveryAttempted':
    case 'DeliveryStatusChanged':
    case 'DraftCreated':
    case 'DraftUpdated':
    case 'DraftDeleted':
      return 'read';
    default:
      return undefined;
  }
}

const KINDS = { delivered: 'delivered', temporary: 'retried', permanent: 'failed' } as const;

/** The steps of each recipient, oldest first. `queuedAt`: null where it is not known, which was after the email was made. */
export function timelineOf(
  { createdAt, recipients, status }: Pick<OutboundEmail, 'createdAt' | 'recipients' | 'status'>,
  attempts: readonly DeliveryAttempt[],
  queuedAt: string | null,
): readonly RecipientTimeline[] {
  const queued: TimelineStep = { at: queuedAt ?? createdAt, kind: 'queued', host: null, reply: '' };
  return recipients.map((recipient) => {
    const steps = attempts.flatMap(({ at, host, reply, recipients: tried }): TimelineStep[] => {
      const own = tried.find(({ id }) => id === recipient.id);
      return own === undefined ? [] : [{ at, kind: KINDS[own.outcome], host, reply }];
    });
    return {
      recipient,
      steps: [...(status === 'Draft' ? [] : [queued]), ...steps, ...missingOf(recipient, [queued, ...steps])],
    };
  });
}

/**
 * The end of a recipient that its attempts do not tell: no attempt ends a recipient that is cancelled or that is put off once too often,
 * and the email may be read a moment later than its attempts. `steps`: those that are known, at least one.
 */
function missingOf(
  { status, deliveredAt, lastError }: OutboundEmail['recipients'][number],
  steps: readonly TimelineStep[],
): readonly TimelineStep[] {
  const last = steps.at(-1)!;
  const delivered = (at: string): TimelineStep => ({ at, kind: 'delivered', host: null, reply: '' });
  if (status === 'Delivered') return last.kind === 'delivered' || deliveredAt === null ? [] : [delivered(deliveredAt)];
  if (status === 'Pending' || last.kind === 'failed') return [];
  // A recipient whose email bounces keeps the time of the delivery.
  const isKnown = deliveredAt === null || steps.some(({ kind }) => kind === 'delivered');
  const before = isKnown ? [] : [delivered(deliveredAt)];
  return [...before, { at: (before[0] ?? last).at, kind: 'failed', host: null, reply: lastError ?? '' }];
}
