// The folders of an account as the mailboxes that a client sees. Levels above a folder that are no folders themselves are
// listed as names without a mailbox; so are names that are still subscribed, where subscriptions are asked for. Names compare whatever their case, as paths of folders do; a name is shown below its
// superior as the superior is spelled. The inbox is shown as INBOX.
import type { Folder } from '../../../actors/mailbox/protocol.js';
import { caseFolded } from '../../../mail/case-fold.js';
import { levelsOf } from '../../../mail/folder-name.js';

export const SEPARATOR = '/';

/** RFC 6154, by the roles of the system folders. */
export const SPECIAL_USES: ReadonlyMap<Folder['role'], string> = new Map([
  ['sent', '\\Sent'],
  ['drafts', '\\Drafts'],
  ['archive', '\\Archive'],
  ['trash', '\\Trash'],
  ['junk', '\\Junk'],
]);

export interface TreeMailbox {
  /** Composed Unicode. */
  readonly name: string;
  /** Undefined: a level above folders and none itself. */
  readonly folder: Folder | undefined;
  readonly superior: TreeMailbox | undefined;
  /** A folder, or a level above one; else only a subscription is left of it, or of a name below it. */
  readonly isThere: boolean;
  readonly isSubscribed: boolean;
  readonly hasChildren: boolean;
}

type Growing = { -readonly [K in keyof TreeMailbox]: TreeMailbox[K] };

export class MailboxTree {
  /** In the order of the folders; superiors stand before what is below them. */
  readonly mailboxes: readonly TreeMailbox[];
  readonly #byName = new Map<string, Growing>();

  /** `subscriptions`: names whose subscription has outlived their folder. */
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

  /** Undefined also when only a subscription is left of it. */
  find(name: string): TreeMailbox | undefined {
    const mailbox = this.#byName.get(caseFolded(name));
    return mailbox?.isThere === true ? mailbox : undefined;
  }

  isSubscribed(name: string): boolean {
    return this.#byName.get(caseFolded(name))?.isSubscribed === true;
  }

  /** The name with the levels above its last one as they are spelled here. */
  shownBelow(name: string): string {
    const levels = levelsOf(name);
    for (let depth = levels.length - 1; depth > 0; depth--) {
      const superior = this.find(levels.slice(0, depth).join(SEPARATOR));
      if (superior !== undefined) return [superior.name, ...levels.slice(depth)].join(SEPARATOR);
    }
    return name;
  }

  /** Made when there is none. What is there is asked for first. */
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
