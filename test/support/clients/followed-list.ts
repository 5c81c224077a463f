// Does what a client of live queries does with the event `ListChanged` (docs/hub.md): it applies the changes in their order. Nothing
// else alters its list.

export interface ListedItem {
  readonly id: string;
  readonly [field: string]: unknown;
}

export interface FollowedList {
  readonly id: string;
  items: ListedItem[];
  total: number;
  unread: number;
  ended: string | undefined;
  /** The types of the changes so far. */
  readonly changes: string[];
}

/** The answer to `Subscribe`. */
export interface Subscribed {
  readonly subscriptionId: string;
  readonly items: ListedItem[];
  readonly total: number;
  readonly unread: number;
}

export type ListChange =
  | { readonly type: 'removed'; readonly index: number; readonly id: string }
  | { readonly type: 'inserted' | 'changed'; readonly index: number; readonly item: ListedItem }
  | { readonly type: 'counted'; readonly total: number; readonly unread: number }
  | { readonly type: 'ended'; readonly error: string };

export function applyChanges(list: FollowedList, changes: readonly ListChange[]): void {
  for (const change of changes) {
    list.changes.push(change.type);
    switch (change.type) {
      case 'removed': {
        const [removed] = list.items.splice(change.index, 1);
        if (removed?.id !== change.id) throw new Error(`${change.id} is not at ${change.index}`);
        break;
      }
      case 'inserted':
        if (change.index > list.items.length) throw new Error(`there is no place ${change.index}`);
        list.items.splice(change.index, 0, change.item);
        break;
      case 'changed':
        if (list.items[change.index]?.id !== change.item.id) throw new Error(`another email is at ${change.index}`);
        list.items[change.index] = change.item;
        break;
      case 'counted':
        list.total = change.total;
        list.unread = change.unread;
        break;
      case 'ended':
        list.ended = change.error;
    }
  }
}

/** Returns the list that a client has after the answer. */
export function followedList({ subscriptionId: id, items, total, unread }: Subscribed): FollowedList {
  return { id, items: [...items], total, unread, ended: undefined, changes: [] };
}
