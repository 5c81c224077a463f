// The events that NOTIFY requests for each mailbox (RFC 5465 §6): the first group that matches a mailbox applies to it. Messages of
// the selected mailbox have their own group.
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { NotifyEvent, NotifyFilter, NotifyGroup } from '../grammar/notify.js';
import { SEPARATOR } from '../mailboxes/mailbox-tree.js';
import type { FolderStatus } from '../responses/status.js';

/** Folders that receive mail: filters add labels. */
const DELIVERED_TO: ReadonlySet<FolderStatus['role']> = new Set(['inbox', 'junk', 'label']);
const NO_EVENTS: ReadonlySet<NotifyEvent> = new Set();

type Matched = Pick<FolderStatus, 'path' | 'role' | 'isSubscribed'>;
type OfFolders = NotifyGroup & { readonly matches: (folder: Matched) => boolean };

export class NotifyRules {
  /** The group for messages in the selected mailbox; undefined when the client did not ask for it. */
  readonly selected: NotifyGroup | undefined;
  readonly #groups: readonly OfFolders[];

  constructor(groups: readonly NotifyGroup[]) {
    this.selected = groups.find(({ filter }) => isOfSelected(filter));
    this.#groups = groups
      .filter(({ filter }) => !isOfSelected(filter))
      .map((group) => ({ ...group, matches: matcherOf(group.filter) }));
  }

  /** Whether events of mailboxes other than the selected one are requested. */
  get hasFolders(): boolean {
    return this.#groups.some(({ events }) => events.size > 0);
  }

  /** Whether changes of the account's annotations are requested. */
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

/** Returns `a/b/c`, `a/b` and `a` for `a/b/c`. */
function levelsAbove(path: string): string[] {
  const levels = path.split(SEPARATOR);
  return levels.map((_, i) => levels.slice(0, i + 1).join(SEPARATOR));
}
