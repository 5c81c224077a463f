// Shows an inbox that follows the account: every change is one call of `render`, and nothing polls.

import { BehaviorSubject, combineLatest } from 'rxjs';
import { createClient, type EmailListItem, Refusal } from '../../src/client/index.js';

interface Inbox {
  readonly state: string;
  readonly unread: number;
  readonly emails: readonly EmailListItem[];
}

export function liveInbox(baseUrl: string, apiKey: string, render: (inbox: Inbox) => void) {
  const client = createClient({ baseUrl, credential: { apiKey } });
  const range$ = new BehaviorSubject({ start: 0, end: 50 });
  combineLatest([client.list({ folder: 'inbox' }, range$), client.connection$]).subscribe(([list, state]) => {
    render({ state, unread: list.unread, emails: list.items });
  });
  return {
    /** The rows that are seen are loaded, in a list of any length. */
    scrollTo: (start: number) => range$.next({ start, end: start + 50 }),

    /** Gone at once; back when the server refuses it. Returns what takes it back. */
    async archive(id: string): Promise<() => Promise<void>> {
      const action = client.act.move([id], { to: 'archive', from: 'inbox' });
      try {
        await action.done;
      } catch (error) {
        if (error instanceof Refusal) render({ state: error.message, unread: 0, emails: [] });
      }
      return () => action.undo();
    },

    close: () => client.close(),
  };
}
