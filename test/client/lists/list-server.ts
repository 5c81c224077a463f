// A hub with one list, for tests of the client's lists: subscriptions to pages, and their changes, which the test delivers in an order of its
// choice. The differences are those of the server.
import { BehaviorSubject, Subject } from 'rxjs';
import type { HubCalls, HubEventPayloads } from '../../../src/client/generated/events.js';
import type { EmailListItem } from '../../../src/client/generated/rest.js';
import type { ConnectionState } from '../../../src/client/hub/hub-link.js';
import type { ListHub } from '../../../src/client/lists/subscriptions.js';
import { changesOf, type ListSnapshot, stepsBetween } from '../../../src/gateways/hub/live-queries/list-changes.js';

export const MOST_SUBSCRIPTIONS = 20;

export interface ListedEmail {
  readonly id: string;
  readonly isRead: boolean;
}

export function emailItem({ id, isRead }: ListedEmail, more: Partial<EmailListItem> = {}): EmailListItem {
  return {
    id,
    isRead,
    fromAddress: 'zoe@remote.test',
    fromDisplayName: 'Zoë',
    subject: `Subject of ${id}`,
    receivedAt: '2026-11-29T08:00:00.000Z',
    isFlagged: false,
    isAnswered: false,
    threadId: id,
    messageId: id,
    sizeBytes: 1,
    folderIds: ['inbox-id'],
    labels: [],
    previewText: '',
    hasAttachments: false,
    attachmentCount: 0,
    ...more,
  };
}

interface Page {
  readonly from: number;
  readonly pageSize: number;
  sent: ListSnapshot;
}

export class ListServer implements ListHub {
  readonly state$ = new BehaviorSubject<ConnectionState>('connecting');
  readonly opened$ = new Subject<void>();
  readonly listChanges$ = new Subject<HubEventPayloads['ListChanged']>();
  readonly pages = new Map<string, Page>();
  /** All states that the list has had. */
  readonly history: (readonly ListedEmail[])[] = [];
  most = 0;
  #serial = 0;

  constructor(emails: readonly ListedEmail[]) {
    this.history.push(emails);
  }

  get emails(): readonly ListedEmail[] {
    return this.history.at(-1)!;
  }

  get isLive(): boolean {
    return this.state$.value === 'live';
  }

  open(): void {}

  connect(): void {
    this.state$.next('live');
    this.opened$.next();
  }

  disconnect(): void {
    this.pages.clear();
    this.state$.next('reconnecting');
  }

  change(emails: readonly ListedEmail[]): void {
    this.history.push(emails);
  }

  /** Sends one page its changes. */
  deliver(id: string): void {
    const page = this.pages.get(id);
    if (page === undefined) return;
    const after = this.#snapshot(page);
    const steps = stepsBetween(page.sent, after);
    page.sent = after;
    const byId = new Map(this.emails.map((email) => [email.id, email]));
    const changes = changesOf(steps, (emailId) => emailItem(byId.get(emailId)!));
    if (changes.length > 0) this.listChanges$.next({ subscriptionId: id, changes: changes as never });
  }

  async call<C extends keyof HubCalls>(name: C, argument: HubCalls[C]['argument']): Promise<HubCalls[C]['result']> {
    if (!this.isLive) throw new Error('closed');
    if (name === 'Unsubscribe') {
      this.pages.delete(argument as string);
      return null as never;
    }
    if (this.pages.size >= MOST_SUBSCRIPTIONS) throw new Error('too many');
    const { page, pageSize } = argument as unknown as { readonly page: number; readonly pageSize: number };
    const made = { from: (page - 1) * pageSize, pageSize, sent: undefined as unknown as ListSnapshot };
    made.sent = this.#snapshot(made);
    const subscriptionId = String(++this.#serial);
    this.pages.set(subscriptionId, made);
    this.most = Math.max(this.most, this.pages.size);
    const { totalCount: total, unreadCount: unread } = made.sent;
    const items = this.emails.slice(made.from, made.from + pageSize).map((email) => emailItem(email));
    return { subscriptionId, items, total, unread } as never;
  }

  #snapshot({ from, pageSize }: Page): ListSnapshot {
    const shown = this.emails.slice(from, from + pageSize);
    return {
      emailIds: shown.map(({ id }) => id),
      versions: shown.map(({ isRead }) => (isRead ? 1 : 0)),
      totalCount: this.emails.length,
      unreadCount: this.emails.filter(({ isRead }) => !isRead).length,
    };
  }
}

/** Lets calls be answered. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
