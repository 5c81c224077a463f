// The events of each mailbox that NOTIFY asks for (RFC 5465 §6): the first group that has a mailbox counts for it. Messages of
// the selected mailbox have a group of their own.
import { caseFolded } from '../../../mail/case-fold.js';
import type { NotifyEvent, NotifyFilter, NotifyGroup } from '../grammar/notify.js';
import { SEPARATOR } from '../mailboxes/mailbox-tree.js';
import type { FolderStatus } from '../responses/status.js';

/** Folders that mail comes into: filters give it labels. */
const DELIVERED_TO: ReadonlySet<FolderStatus['role']> = new Set(['inbox', 'junk', 'label']);
const NO_EVENTS: ReadonlySet<NotifyEvent> = new Set();

type Matched = Pick<FolderStatus, 'path' | 'role' | 'isSubscribed'>;
type OfFolders = NotifyGroup & { readonly matches: (folder: Matched) => boolean };

export class NotifyRules {
  /** Of messages in the selected mailbox; undefined when the client did not ask for them. */
  readonly selected: NotifyGroup | undefined;
  readonly #groups: readonly OfFolders[];

  constructor(groups: readonly NotifyGroup[]) {
    this.selected = groups.find(({ filter }) => isOfSelected(filter));
    this.#groups = groups
      .filter(({ filter }) => !isOfSelected(filter))
      .map((group) => ({ ...group, matches: matcherOf(group.filter) }));
  }

  /** Whether something is wanted of mailboxes other than the selected one. */
  get hasFolders(): boolean {
    return this.#groups.some(({ events }) => events.size > 0);
  }

  /** Whether changes of the annotations of the account are wanted. */
  get hasServerMetadata(): boolean {
    return this.#groups.some(({ events }) => events.has('ServerMetadataChange'));
  }

  eventsOf(folder: Matched): ReadonlySet<NotifyEvent> {
    return this.#groups.find(({ matches }) => matches(folder))?.events ?? NO_EVENTS;
  }
}

export const isOfSelected = ({ type }: NotifyFilter): boolean => type === 'selected' || type === 'selected-delayed';

function matcherOf(filter: NotifyFilter): (folder: Matched) => boolean {
  switch (filter.type) {
    case 'selected':
    case 'selected-delayed':
      return () => false;
    case 'inboxes':
      return ({ role }) => DELIVERED_TO.has(role);
    case 'personal':
      return () => true;
    case 'subscribed':
      return ({ isSubscribed }) => isSubscribed;
    case 'mailboxes': {
      const names = new Set(filter.mailboxes.map(caseFolded));
      return ({ path }) => names.has(caseFolded(path));
    }
    case 'subtree': {
      const names = new Set(filter.mailboxes.map(caseFolded));
      return ({ path }) => levelsAbove(caseFolded(path)).some((name) => names.has(name));
    }
  }
}

/** `a/b/c`, `a/b` and `a` of `a/b/c`. */
function levelsAbove(path: string): string[] {
  const levels = path.split(SEPARATOR);
  return levels.map((_, i) => levels.slice(0, i + 1).join(SEPARATOR));
}
