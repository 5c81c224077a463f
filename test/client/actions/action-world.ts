// Actions over a list of emails and a server that replies as a test says.
import { BehaviorSubject, Subject } from 'rxjs';
import { ActionQueue } from '../../../src/client/actions/action-queue.js';
import { type ActionParts, actionsOf, restoreActions } from '../../../src/client/actions/actions.js';
import { Overlays } from '../../../src/client/actions/overlays.js';
import type { Actions, LateRefusal, ListView } from '../../../src/client/client-types.js';
import type { EmailListItem, Folder } from '../../../src/client/generated/rest.js';
import type { ClientEvent } from '../../../src/client/hub/hub-link.js';
import { KeptAccount } from '../../../src/client/offline/kept-account.js';
import { emailItem } from '../lists/list-server.js';

const folder = (role: Folder['role'], id = `${role}-id`): Folder => ({
  id,
  name: id,
  role,
  parentId: null,
  total: 0,
  unread: 0,
  color: role === 'label' ? '#aabbcc' : null,
  isSubscribed: true,
});

const FOLDERS = [
  folder('inbox'),
  folder('archive'),
  folder('trash'),
  folder('junk'),
  folder('label'),
  folder('folder'),
];

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export interface World {
  readonly act: Actions;
  readonly queue: ActionQueue;
  readonly storage: KeptAccount;
  readonly lateRefusals: LateRefusal[];
  readonly sent: Sent[];
  readonly events$: Subject<ClientEvent>;
  /** The replies to come; without one a request succeeds. */
  readonly replies: (() => Promise<unknown>)[];
  view(query?: Parameters<Overlays['over']>[0]): ListView;
}

export function world(items: readonly EmailListItem[], storage = new KeptAccount()): World {
  const find = (idOrRole: string) => FOLDERS.find(({ id, role }) => id === idOrRole || role === idOrRole);
  const overlays = new Overlays(find);
  const sent: Sent[] = [];
  const replies: (() => Promise<unknown>)[] = [];
  const rest = {
    request: async (method: string, path: string, { body }: { readonly body?: unknown } = {}) => {
      sent.push({ method, path, body });
      return replies.shift()?.();
    },
  };
  const events$ = new Subject<ClientEvent>();
  const link = { events$, isLive: true, opened$: new Subject<void>(), state$: new BehaviorSubject('live') };
  const queue = new ActionQueue(rest as never, storage);
  const known = (id: string) => items.find((item) => item.id === id);
  const parts: ActionParts = { queue, overlays, link: link as never, folder: find, find: known, restored: new Map() };
  const act = actionsOf(parts);
  const lateRefusals: LateRefusal[] = [];
  storage.taken$.subscribe((values) => restoreActions(values, parts, (refusal) => lateRefusals.push(refusal)));
  const unread = items.filter(({ isRead }) => !isRead).length;
  const base = { total: items.length, unread, start: 0, items, isLoading: false };
  return {
    act,
    queue,
    storage,
    lateRefusals,
    sent,
    replies,
    events$,
    view: (query = {}) => overlays.over(query, base),
  };
}

export const idsOf = ({ items }: ListView) => items.map(({ id }) => id);
export const three = () => ['a', 'b', 'c'].map((id) => emailItem({ id, isRead: id === 'c' }));
