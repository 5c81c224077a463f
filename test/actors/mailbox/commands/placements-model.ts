// Models folders, placements and flags in plain objects, with every rule written a second time. Its clock counts commands
// that have changed something, as modseqs do.

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
  /** Names in lower case. */
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
  /** Every placement that has ended, as `folder uid`, and the clock at its end. */
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

  /** Undefined for UIDs of a folder that does not exist. An id names no email whose placements are all marked `\Deleted`. */
  select(selection: Selection): ModelEmail[] | undefined {
    if ('emailIds' in selection) {
      const shown = this.emails.filter(({ placements }) => [...placements.values()].some((place) => !place.isDeleted));
      return selection.emailIds.flatMap((wanted) => shown.find(({ id }) => id === wanted) ?? []);
    }
    const folder = this.folder(selection.folderId);
    if (folder === undefined) return undefined;
    const uidOf = (email: ModelEmail) => email.placements.get(folder.id)?.uid ?? 0;
    return this.emails
      .filter((email) => selection.uids.some(([a, b]) => uidOf(email) >= Math.max(a, 1) && uidOf(email) <= b))
      .sort((a, b) => uidOf(a) - uidOf(b));
  }

  /** Returns the new UIDs. */
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

  /** Ends one placement; an email without another one is removed. */
  end(email: ModelEmail, folder: ModelFolder): void {
    if (email.placements.size === 1) this.remove(email);
    else this.unplace(email, folder);
  }

  remove(email: ModelEmail): void {
    for (const id of [...email.placements.keys()]) this.unplace(email, this.folder(id)!);
    this.emails = this.emails.filter((other) => other !== email);
  }

  /** One command may change many emails; it advances the clock once when it changes any. */
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

  /** Returns how many emails changed. */
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

  /**
   * Puts the emails into the folder under new UIDs. `isByUid`: emails that are there unmarked stay, and copies with ids of `newId`
   * are added. Returns the emails that are there, in the order of `emails`.
   */
  #arrive(
    emails: readonly ModelEmail[],
    to: ModelFolder,
    leaving: ModelFolder | undefined,
    isByUid: boolean,
    newId: (uid: number) => string,
  ) {
    const drafts = this.role('drafts');
    const apart = emails.filter(({ placements }) => {
      if (to !== drafts) return placements.has(drafts.id) && leaving !== drafts;
      return !placements.has(drafts.id) && [...placements.keys()].some((id) => id !== leaving?.id);
    });
    for (const email of emails) if (email.placements.get(to.id)?.isDeleted) this.unplace(email, to);
    return emails.map((email) => {
      if (!email.placements.has(to.id) && !(isByUid && apart.includes(email))) this.place(email, to);
      else if (isByUid) {
        const placements = new Map();
        const copy = { ...email, id: newId(to.uidNext), flags: new Set(email.flags), modseq: this.clock, placements };
        this.emails.push(copy);
        this.place(copy, to);
        return copy;
      }
      return email;
    });
  }

  #isKept(email: ModelEmail, { id }: ModelFolder): boolean {
    return email.placements.get(id)?.isDeleted === false;
  }

  /** Returns how many emails arrived, and the emails in the folder that stand for all of them. */
  copy(
    emails: readonly ModelEmail[],
    to: ModelFolder,
    isByUid: boolean,
    newId: (uid: number) => string,
  ): [number, ModelEmail[]] {
    const tick = this.#once();
    const arriving = emails.filter((email) => isByUid || !this.#isKept(email, to));
    if (arriving.length === 0) return [0, [...emails]];
    tick();
    return [arriving.length, this.#arrive(emails, to, undefined, isByUid, newId)];
  }

  move(
    emails: readonly ModelEmail[],
    to: ModelFolder,
    from: ModelFolder | undefined,
    isByUid: boolean,
    newId: (uid: number) => string,
  ): [number, ModelEmail[]] {
    const tick = this.#once();
    if (from === to && isByUid) {
      if (emails.length > 0) tick();
      for (const email of emails) this.unplace(email, to);
      for (const email of emails) this.place(email, to);
      return [emails.length, [...emails]];
    }
    const leftBy = (email: ModelEmail) => {
      if (from !== undefined) return from === to ? [] : [from];
      const held = this.folders.filter(({ id }) => email.placements.has(id) && id !== to.id);
      if (to.role === 'label') return held.filter(({ role }) => ['inbox', 'trash', 'junk'].includes(role));
      return held.filter(({ role }) => role !== 'label' || to.role === 'trash' || to.role === 'junk');
    };
    const left = emails.map(leftBy);
    const count = emails.filter((email, i) => isByUid || !this.#isKept(email, to) || left[i]!.length > 0).length;
    if (count === 0) return [0, [...emails]];
    tick();
    const arrived = this.#arrive(emails, to, from, isByUid, newId);
    emails.forEach((email, i) => {
      for (const folder of left[i]!) this.unplace(email, folder);
      const isFromJunk = left[i]!.some(({ role }) => role === 'junk');
      const flag = to.role === 'junk' ? '$junk' : isFromJunk && to.role !== 'trash' ? '$notjunk' : undefined;
      const other = flag === '$junk' ? '$notjunk' : '$junk';
      const { flags } = arrived[i]!;
      if (flag === undefined || from === to || (flags.has(flag) && !flags.has(other))) return;
      this.setFlags(arrived[i]!, new Set([...flags].filter((name) => name !== other).concat(flag)));
    });
    return [count, arrived];
  }

  /** Returns the expunged UIDs. */
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

  isAccepted(path: string, except: readonly ModelFolder[] = []): boolean {
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
    if (paths.some((name) => this.isAccepted(name, moved))) return 'nameTaken';
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
      const held = this.select({ folderId: folder.id, uids: [[1, 1e9]] })!;
      const isBin = ['trash', 'junk'].some((role) => this.below(this.role(role)).includes(folder));
      if (isBin) {
        for (const email of held) this.end(email, folder);
        this.folders = this.folders.filter((other) => other !== folder);
        continue;
      }
      for (const { placements } of held) placements.delete(folder.id);
      const homeless = held.filter(({ placements }) => [...placements.values()].every(({ isDeleted }) => isDeleted));
      this.#arrive(homeless, this.role('archive'), undefined, false, () => '');
      this.folders = this.folders.filter((other) => other !== folder);
    }
  }
}
