// A naive model of folders, placements and flags: plain objects, every rule written down once more. Its clock is the number
// of commands that have changed something, which is what modseqs count.

export const SYSTEM = ['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk'];

export interface ModelFolder {
  readonly id: string;
  readonly role: string;
  name: string;
  uidNext: number;
  highest: number;
}

interface ModelPlacement {
  readonly uid: number;
  isDeleted: boolean;
  modseq: number;
}

export interface ModelEmail {
  readonly id: string;
  readonly receivedAt: number;
  /** In lower case. */
  flags: Set<string>;
  modseq: number;
  readonly placements: Map<string, ModelPlacement>;
}

export type Selection = { emailIds: string[] } | { folderId: string; uids: [number, number][] };
type Mode = 'add' | 'remove' | 'replace';

const fold = (text: string) => text.normalize('NFC').toLowerCase();

export class Model {
  emails: ModelEmail[] = [];
  folders: ModelFolder[];
  clock = 0;
  /** `folder uid` of every placement that there was, and the clock when it ended. */
  readonly expunged = new Map<string, number>();

  constructor(folders: readonly { readonly id: string; readonly role: string; readonly path: string }[]) {
    this.folders = folders.map(({ id, role, path }) => ({ id, role, name: path, uidNext: 1, highest: 0 }));
  }

  folder(name: string): ModelFolder | undefined {
    return this.folders.find(({ id, role }) => id === name || (role === name && SYSTEM.includes(name)));
  }

  role(role: string): ModelFolder {
    return this.folders.find((folder) => folder.role === role)!;
  }

  /** Undefined for UIDs of a folder that is not there. */
  select(selection: Selection): ModelEmail[] | undefined {
    if ('emailIds' in selection) return this.emails.filter(({ id }) => selection.emailIds.includes(id));
    const folder = this.folder(selection.folderId);
    if (folder === undefined) return undefined;
    const uidOf = (email: ModelEmail) => email.placements.get(folder.id)?.uid ?? 0;
    return this.emails
      .filter((email) => selection.uids.some(([a, b]) => uidOf(email) >= Math.max(a, 1) && uidOf(email) <= b))
      .sort((a, b) => uidOf(a) - uidOf(b));
  }

  /** Returns the UIDs. */
  append(
    messages: readonly { readonly id: string; readonly flags: readonly string[]; readonly receivedAt: number }[],
    folder: ModelFolder,
  ): number[] {
    this.clock++;
    return messages.map(({ id, flags, receivedAt }) => {
      const all = new Set(flags.map(fold));
      const isDeleted = all.delete('\\deleted');
      const email = { id, receivedAt, flags: all, modseq: this.clock, placements: new Map() };
      this.emails.push(email);
      this.place(email, folder);
      const placement = email.placements.get(folder.id)!;
      placement.isDeleted = isDeleted;
      return placement.uid;
    });
  }

  place(email: ModelEmail, folder: ModelFolder): void {
    email.placements.set(folder.id, { uid: folder.uidNext++, isDeleted: false, modseq: this.clock });
    folder.highest = this.clock;
  }

  unplace(email: ModelEmail, folder: ModelFolder): void {
    this.expunged.set(`${folder.id} ${email.placements.get(folder.id)!.uid}`, this.clock);
    email.placements.delete(folder.id);
    folder.highest = this.clock;
  }

  /** An email without any other place is no more. */
  end(email: ModelEmail, folder: ModelFolder): void {
    if (email.placements.size === 1) this.remove(email);
    else this.unplace(email, folder);
  }

  remove(email: ModelEmail): void {
    for (const id of [...email.placements.keys()]) this.unplace(email, this.folder(id)!);
    this.emails = this.emails.filter((other) => other !== email);
  }

  /** Each change of many emails is one command, so one tick when there is any. */
  #once() {
    const before = this.clock;
    return () => {
      if (this.clock === before) this.clock++;
    };
  }

  setFlags(email: ModelEmail, flags: Set<string>): void {
    email.flags = flags;
    email.modseq = this.clock;
    for (const id of email.placements.keys()) this.folder(id)!.highest = this.clock;
  }

  /** Returns how many changed. */
  store(emails: readonly ModelEmail[], mode: Mode, names: readonly string[], folder: ModelFolder | undefined): number {
    const tick = this.#once();
    const named = new Set(names.map(fold));
    const isDeletedNamed = named.delete('\\deleted');
    let changed = 0;
    for (const email of emails) {
      const after = new Set(mode === 'replace' ? [] : email.flags);
      for (const name of named) {
        if (mode === 'remove') after.delete(name);
        else after.add(name);
      }
      const isFlagged = [...after].sort().join() !== [...email.flags].sort().join();
      const placement = folder === undefined ? undefined : email.placements.get(folder.id)!;
      const wanted = mode === 'replace' ? isDeletedNamed : isDeletedNamed ? mode === 'add' : placement?.isDeleted;
      const isMarked = placement !== undefined && placement.isDeleted !== wanted;
      if (!isFlagged && !isMarked) continue;
      tick();
      changed++;
      if (isFlagged) this.setFlags(email, after);
      if (!isMarked) continue;
      placement.isDeleted = wanted!;
      placement.modseq = this.clock;
      folder!.highest = this.clock;
    }
    return changed;
  }

  copy(emails: readonly ModelEmail[], to: ModelFolder): number {
    const tick = this.#once();
    const missing = emails.filter(({ placements }) => !placements.has(to.id));
    for (const email of missing) {
      tick();
      this.place(email, to);
    }
    return missing.length;
  }

  move(emails: readonly ModelEmail[], to: ModelFolder, from: ModelFolder | undefined): number {
    const tick = this.#once();
    let count = 0;
    for (const email of emails) {
      const held = this.folders.filter(({ id }) => email.placements.has(id) && id !== to.id);
      let left = held.filter(({ role }) => role !== 'label' || to.role === 'trash' || to.role === 'junk');
      if (to.role === 'label') left = held.filter(({ role }) => ['inbox', 'trash', 'junk'].includes(role));
      if (from !== undefined) left = [from];
      const isThere = email.placements.has(to.id);
      if (from === to || (isThere && left.length === 0)) continue;
      tick();
      count++;
      if (!isThere) this.place(email, to);
      for (const folder of left) this.unplace(email, folder);
      const isFromJunk = left.some(({ role }) => role === 'junk');
      const flag = to.role === 'junk' ? '$junk' : isFromJunk && to.role !== 'trash' ? '$notjunk' : undefined;
      const other = flag === '$junk' ? '$notjunk' : '$junk';
      if (flag === undefined || (email.flags.has(flag) && !email.flags.has(other))) continue;
      this.setFlags(email, new Set([...email.flags].filter((name) => name !== other).concat(flag)));
    }
    return count;
  }

  /** Returns the UIDs. */
  expunge(folder: ModelFolder, uids: [number, number][]): number[] {
    const tick = this.#once();
    const deleted = this.select({ folderId: folder.id, uids })!.filter((e) => e.placements.get(folder.id)!.isDeleted);
    return deleted.map((email) => {
      tick();
      const { uid } = email.placements.get(folder.id)!;
      this.end(email, folder);
      return uid;
    });
  }

  removeAll(emails: readonly ModelEmail[]): void {
    const tick = this.#once();
    for (const email of emails) {
      tick();
      this.remove(email);
    }
  }

  isTaken(path: string, except: readonly ModelFolder[] = []): boolean {
    const isSystem = ['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk', 'outbox'].includes(fold(path));
    return isSystem || this.folders.some((other) => !except.includes(other) && fold(other.name) === fold(path));
  }

  below(folder: ModelFolder): ModelFolder[] {
    return this.folders.filter(({ name }) => fold(name).startsWith(`${fold(folder.name)}/`));
  }

  superior(folder: ModelFolder): ModelFolder | undefined {
    const above = this.folders.filter((other) => this.below(other).includes(folder));
    return above.sort((a, b) => b.name.length - a.name.length)[0];
  }

  rename(folder: ModelFolder, path: string): 'nameTaken' | undefined {
    const below = this.below(folder);
    const moved = [folder, ...below];
    const paths = moved.map(({ name }) => path + name.slice(folder.name.length));
    if (paths.some((name) => this.isTaken(name, moved))) return 'nameTaken';
    if (folder.name === path) return undefined;
    this.clock++;
    moved.forEach((one, i) => {
      one.name = paths[i]!;
      one.highest = this.clock;
    });
    return undefined;
  }

  delete(folders: readonly ModelFolder[]): void {
    this.clock++;
    for (const folder of folders) {
      this.folders = this.folders.filter((other) => other !== folder);
      const held = this.emails.filter(({ placements }) => placements.delete(folder.id));
      for (const email of held) if (email.placements.size === 0) this.place(email, this.role('archive'));
    }
  }
}
