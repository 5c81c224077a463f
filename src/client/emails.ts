// Emails and threads in full: read once, patched or read again by events, and kept for a while, so that opening one again shows it at once.
import { distinctUntilChanged, filter, map, type Observable, skip, startWith, switchMap } from 'rxjs';
import type { Overlays } from './actions/overlays.js';
import type { EmailDetail } from './generated/rest.js';
import type { ClientEvent, HubLink } from './hub/hub-link.js';
import type { Lists } from './lists/lists.js';
import { refreshed } from './refreshed.js';
import type { Rest } from './rest.js';

const MOST_KEPT = 50;
/** Bodies of kept emails, in characters. */
const MOST_KEPT_LENGTH = 8 * 1024 * 1024;

export class Emails {
  readonly #rest: Rest;
  readonly #link: HubLink;
  readonly #lists: Lists;
  readonly #overlays: Overlays;
  /** Streams by email or thread, of which equal ones are one. */
  readonly #streams = new Map<string, Observable<unknown>>();
  /** The emails that were read last, oldest first. */
  readonly #kept = new Map<string, EmailDetail>();

  constructor(rest: Rest, link: HubLink, lists: Lists, overlays: Overlays) {
    this.#rest = rest;
    this.#link = link;
    this.#lists = lists;
    this.#overlays = overlays;
  }

  email(id: string): Observable<EmailDetail> {
    const email$ = this.#shared(`email ${id}`, () =>
      refreshed<EmailDetail>(this.#link, {
        earlier: () => this.#kept.get(id),
        read: async () => this.#keep(await this.#rest.request('GET', '/api/emails/{id}', { params: { id } })),
        touch: (event, newest) => {
          const after = touched(event, newest);
          if (after === 'read') this.#kept.delete(id);
          return typeof after === 'object' ? this.#keep(after) : after;
        },
      }),
    );
    return email$.pipe(
      switchMap((email) => this.#repainted(() => this.#overlays.apply(email))),
      filter((email) => email !== undefined),
      distinctUntilChanged(),
    );
  }

  thread(threadId: string): Observable<readonly EmailDetail[]> {
    const thread$ = this.#shared(`thread ${threadId}`, () =>
      refreshed<readonly EmailDetail[]>(this.#link, {
        // The list says who belongs to the thread.
        also$: this.#lists.view({ threadId }).pipe(
          map(({ total, items }) => [total, ...items.map(({ id }) => id)].join()),
          distinctUntilChanged(),
          skip(1),
        ),
        read: () => this.#rest.request('GET', '/api/emails/threads/{threadId}', { params: { threadId } }),
        touch(event, newest) {
          const afters = newest.map((email) => touched(event, email) ?? email);
          if (afters.includes('read')) return 'read';
          return afters.some((after, i) => after !== newest[i]) ? (afters as readonly EmailDetail[]) : undefined;
        },
      }),
    );
    return thread$.pipe(
      switchMap((emails) => this.#repainted(() => emails.flatMap((email) => this.#overlays.apply(email) ?? []))),
      distinctUntilChanged((a, b) => a.length === b.length && a.every((email, i) => email === b[i])),
    );
  }

  find(id: string): EmailDetail | undefined {
    return this.#kept.get(id);
  }

  forget(): void {
    this.#kept.clear();
    this.#streams.clear();
  }

  #repainted<T>(paint: () => T): Observable<T> {
    return this.#overlays.changed$.pipe(startWith(undefined), map(paint));
  }

  #shared<T>(key: string, make: () => Observable<T>): Observable<T> {
    const stream$ = (this.#streams.get(key) as Observable<T> | undefined) ?? make();
    this.#streams.delete(key);
    this.#streams.set(key, stream$);
    const [oldest] = this.#streams.keys();
    if (this.#streams.size > MOST_KEPT) this.#streams.delete(oldest!);
    return stream$;
  }

  #keep(email: EmailDetail): EmailDetail {
    this.#kept.delete(email.id);
    this.#kept.set(email.id, email);
    let length = 0;
    for (const { textBody, htmlBody } of this.#kept.values()) length += textBody.length + htmlBody.length;
    for (const [id, { textBody, htmlBody }] of this.#kept) {
      if (this.#kept.size <= MOST_KEPT && length <= MOST_KEPT_LENGTH) break;
      length -= textBody.length + htmlBody.length;
      this.#kept.delete(id);
    }
    return email;
  }
}

function touched(event: ClientEvent, email: EmailDetail): EmailDetail | 'read' | undefined {
  switch (event.type) {
    case 'EmailUpdated':
      return event.payload.id === email.id ? { ...email, isRead: event.payload.isRead } : undefined;
    case 'EmailFlagsChanged': {
      const { id, isRead, isFlagged, isAnswered } = event.payload;
      return id === email.id ? { ...email, isRead, isFlagged, isAnswered } : undefined;
    }
    case 'EmailPlaced':
    case 'EmailUnplaced':
      return event.payload.id === email.id ? 'read' : undefined;
    case 'EmailDeleted':
      return event.payload === email.id ? 'read' : undefined;
    case 'LabelUpdated':
    case 'LabelDeleted':
      return email.labels.some(({ id }) => id === event.payload.id) ? 'read' : undefined;
    default:
      return undefined;
  }
}
