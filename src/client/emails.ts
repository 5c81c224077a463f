// Emails and threads in full: read once, patched or read again by events, and kept for a while, so that opening one again shows it at once.
import { defer, distinctUntilChanged, filter, from, map, type Observable, of, skip, startWith, switchMap } from 'rxjs';
import type { Overlays } from './actions/overlays.js';
import type { EmailDetail } from './generated/rest.js';
import type { ClientEvent, HubLink } from './hub/hub-link.js';
import type { Lists } from './lists/lists.js';
import type { KeptAccount } from './offline/kept-account.js';
import { refreshed } from './refreshed.js';
import { NotFound } from './refusal.js';
import type { Rest } from './rest.js';

const MOST_RECENT = 50;
/** Bodies of recent emails, in characters. */
const MOST_RECENT_LENGTH = 8 * 1024 * 1024;
/** Emails with longer bodies are not kept in the storage. In characters. */
const LONGEST_STORED = 256 * 1024;

export class Emails {
  readonly #rest: Rest;
  readonly #link: HubLink;
  readonly #lists: Lists;
  readonly #overlays: Overlays;
  readonly #storage: KeptAccount;
  /** Streams by email or thread, of which equal ones are one. */
  readonly #streams = new Map<string, Observable<unknown>>();
  /** The emails that were read last, oldest first. */
  readonly #recent = new Map<string, EmailDetail>();

  constructor(rest: Rest, link: HubLink, lists: Lists, overlays: Overlays, storage: KeptAccount) {
    this.#rest = rest;
    this.#link = link;
    this.#lists = lists;
    this.#overlays = overlays;
    this.#storage = storage;
    link.events$.subscribe(({ type, payload }) => {
      if (type === 'EmailDeleted') this.#storage.remove('emails', payload);
    });
  }

  email(id: string): Observable<EmailDetail> {
    const email$ = this.#shared(`email ${id}`, () =>
      refreshed<EmailDetail>(this.#link, {
        earlier$: defer(() => (this.#recent.has(id) ? of(this.#recent.get(id)) : from(this.#stored(id)))),
        read: () => this.#read(id),
        touch: (event, newest) => {
          const after = touched(event, newest);
          if (after === 'read') this.#recent.delete(id);
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
    return this.#recent.get(id);
  }

  forget(): void {
    this.#recent.clear();
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
    if (this.#streams.size > MOST_RECENT) this.#streams.delete(oldest!);
    return stream$;
  }

  async #read(id: string): Promise<EmailDetail> {
    try {
      return this.#keep(await this.#rest.request('GET', '/api/emails/{id}', { params: { id } }));
    } catch (error) {
      if (error instanceof NotFound) this.#storage.remove('emails', id);
      throw error;
    }
  }

  async #stored(id: string): Promise<EmailDetail | undefined> {
    const email = await this.#storage.value<EmailDetail>('emails', id);
    // The server may have given it meanwhile.
    return email && (this.#recent.get(id) ?? this.#remember(email));
  }

  #keep(email: EmailDetail): EmailDetail {
    if (lengthOf(email) <= LONGEST_STORED) this.#storage.write('emails', email.id, email);
    return this.#remember(email);
  }

  #remember(email: EmailDetail): EmailDetail {
    this.#recent.delete(email.id);
    this.#recent.set(email.id, email);
    let length = 0;
    for (const recent of this.#recent.values()) length += lengthOf(recent);
    for (const [id, recent] of this.#recent) {
      if (this.#recent.size <= MOST_RECENT && length <= MOST_RECENT_LENGTH) break;
      length -= lengthOf(recent);
      this.#recent.delete(id);
    }
    return email;
  }
}

const lengthOf = ({ textBody, htmlBody }: EmailDetail): number => textBody.length + htmlBody.length;

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
