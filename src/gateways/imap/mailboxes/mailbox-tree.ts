// The folders of an account as the mailboxes that a client sees. Levels above a folder that are no folders themselves are
// listed as names without a mailbox. Names compare whatever their case, as paths of folders do; a name is shown below its
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
  readonly hasChildren: boolean;
}

type Growing = { -readonly [K in keyof TreeMailbox]: TreeMailbox[K] };

export class MailboxTree {
  /** In the order of the folders; superiors stand before what is below them. */
  readonly mailboxes: readonly TreeMailbox[];
  readonly #byName = new Map<string, Growing>();

  constructor(folders: readonly Folder[]) {
    for (const folder of folders) this.#at(levelsOf(folder.path)).folder = folder;
    this.mailboxes = [...this.#byName.values()];
  }

  find(name: string): TreeMailbox | undefined {
    return this.#byName.get(caseFolded(name));
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

  #at(levels: readonly string[]): Growing {
    const key = caseFolded(levels.join(SEPARATOR));
    const known = this.#byName.get(key);
    if (known !== undefined) return known;
    const superior = levels.length > 1 ? this.#at(levels.slice(0, -1)) : undefined;
    if (superior !== undefined) superior.hasChildren = true;
    const level = key === 'inbox' ? 'INBOX' : levels.at(-1)!;
    const name = superior === undefined ? level : `${superior.name}${SEPARATOR}${level}`;
    const made: Growing = { name, folder: undefined, superior, hasChildren: false };
    this.#byName.set(key, made);
    return made;
  }
}
