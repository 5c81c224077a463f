// The folders of an account as the mailboxes that a client sees. Levels above folders are listed as names without a mailbox, and so
// are names that are still subscribed. Names are compared case-insensitively, like paths of folders; a name is shown with the
// spelling of its superior. The inbox is shown as INBOX.
import type { Folder } from '../../../actors/mailbox/protocol.js';
import { levelsOf } from '../../../mail-format/folder-name.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';

export const SEPARATOR = '/';

/** RFC 6154, by the roles of the system folders. */
export const SPECIAL_USES: ReadonlyMap<Folder['role'], string> = new Map([
  ['sent', '\\Sent'],
  ['drafts', '\\Drafts'],
  ['archive', '\\Archive'],
  ['trash', '\\Trash'],
  ['junk', '\\Junk'],
]);

const SYSTEM_ROLES: ReadonlySet<string> = new Set(['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk']);

export interface TreeMailbox {
  /** The name in composed Unicode. */
  readonly name: string;
  /** Undefined for a name that is not a folder. */
  readonly folder: Folder | undefined;
  readonly superior: TreeMailbox | undefined;
  /** Whether it is a folder or a level above one; otherwise only a subscription of it, or of a name below it, is left. */
  readonly isThere: boolean;
  readonly isSubscribed: boolean;
  readonly hasChildren: boolean;
}

type Growing = { -readonly [K in keyof TreeMailbox]: TreeMailbox[K] };

export class MailboxTree {
  /** Mailboxes in the order of the folders; superiors precede what is below them. */
  readonly mailboxes: readonly TreeMailbox[];
  readonly #byName = new Map<string, Growing>();

  /** `subscriptions` are names whose subscription has outlived their folder. */
  constructor(folders: readonly Folder[], subscriptions: readonly string[] = []) {
    for (const folder of folders) {
      Object.assign(this.#at(levelsOf(folder.path), true), { folder, isSubscribed: folder.isSubscribed });
    }
    for (const path of subscriptions) {
      const mailbox = this.#at(levelsOf(path), false);
      if (mailbox.folder === undefined) mailbox.isSubscribed = true;
    }
    this.mailboxes = [...this.#byName.values()];
  }

  /** Returns undefined also when only a subscription is left. */
  find(name: string): TreeMailbox | undefined {
    const mailbox = this.#byName.get(caseFolded(name));
    return mailbox?.isThere === true ? mailbox : undefined;
  }

  isSubscribed(name: string): boolean {
    return this.#byName.get(caseFolded(name))?.isSubscribed === true;
  }

  /** Returns the name with the levels above its last one in the spelling of this tree. */
  shownBelow(name: string): string {
    const levels = levelsOf(name);
    for (let depth = levels.length - 1; depth > 0; depth--) {
      const superior = this.find(levels.slice(0, depth).join(SEPARATOR));
      if (superior !== undefined) return [superior.name, ...levels.slice(depth)].join(SEPARATOR);
    }
    return name;
  }

  /** Returns the mailbox, or creates it. Existing folders must be added before subscriptions. */
  #at(levels: readonly string[], isThere: boolean): Growing {
    const key = caseFolded(levels.join(SEPARATOR));
    const known = this.#byName.get(key);
    if (known !== undefined) return known;
    const superior = levels.length > 1 ? this.#at(levels.slice(0, -1), isThere) : undefined;
    if (superior !== undefined && isThere) superior.hasChildren = true;
    const level = key === 'inbox' ? 'INBOX' : levels.at(-1)!;
    const name = superior === undefined ? level : `${superior.name}${SEPARATOR}${level}`;
    const made: Growing = { name, folder: undefined, superior, isThere, isSubscribed: false, hasChildren: false };
    this.#byName.set(key, made);
    return made;
  }
}

/** Returns the role of a system folder, which needs no lookup; undefined for other names. */
export function systemReference(name: string): string | undefined {
  const role = caseFolded(name);
  return SYSTEM_ROLES.has(role) ? role : undefined;
}
