// The actions on emails: each is shown at once, sent in its turn, and can be taken back. What it has really changed is known from the emails
// that are shown and, for others, from the events of the log.
import { ReplaySubject, type Subscription, take } from 'rxjs';
import type { Action, ActionEmails, Actions, KnownEmail, KnownEmails, LateRefusal } from '../client-types.js';
import type { ClientEvent, HubLink } from '../hub/hub-link.js';
import type { StoredValue } from '../offline/client-storage.js';
import { isSignedOut } from '../refusal.js';
import { type ActionQueue, BULK, type QueuedChange, type StoredAction } from './action-queue.js';
import type { Change, Changeable, FolderFinder, Overlay, Overlays } from './overlays.js';

/** After the reply the lists still get the change: its overlay stays for this time. ms */
const SETTLE_MS = 2_000;

export interface ActionParts {
  readonly queue: ActionQueue;
  readonly overlays: Overlays;
  readonly link: HubLink;
  readonly folder: FolderFinder;
  /** An email as the server has it, where it is known. */
  find(id: string): Changeable | undefined;
}

type Before = Partial<KnownEmail>;

export function actionsOf(parts: ActionParts): Actions {
  const act = (ids: readonly string[], change: Change, found?: ActionEmails): Action =>
    new OptimisticAction([...new Set(ids)], change, parts, { found });
  return {
    markRead: (ids, isRead, found) => act(ids, { kind: 'mark', isRead }, found),
    flag: (ids, isFlagged, found) => act(ids, { kind: 'flag', isFlagged }, found),
    move: (ids, { to, from }, found) =>
      act(ids, { kind: 'move', to: idOf(to, parts), from: from && idOf(from, parts) }, found),
    delete: (ids, { from } = {}, found) => act(ids, { kind: 'delete', ...(from && { from }) }, found),
    label: (ids, labelId, found) => act(ids, { kind: 'label', labelId }, found),
    unlabel: (ids, labelId, found) => act(ids, { kind: 'unlabel', labelId }, found),
  };
}

/** What earlier clients have not sent: it is shown, and sent in the order of time. */
export function restoreActions(
  values: readonly StoredValue[],
  parts: ActionParts,
  refused: (refusal: LateRefusal) => void,
): void {
  const restored = values.map(({ key, value }) => {
    const { ids, change, unnamed } = value as StoredAction;
    const action = new OptimisticAction(ids, change, parts, {
      restoredKey: key,
      found: { find: () => undefined, unnamed },
    });
    action.done.catch((error: Error) => refused({ ids, error }));
    return action;
  });
  parts.queue.restore(restored.map(({ queued }) => queued));
}

let made = 0;

/** Keys sort by time; those of two clients differ. */
function newKey(): string {
  return (
    [Date.now(), made++].map((part) => part.toString(36).padStart(9, '0')).join('-') +
    Math.random().toString(36).slice(1)
  );
}

/** Roles become ids where the folders are known, because emails and events have ids. */
const idOf = (folder: string, parts: ActionParts): string => parts.folder(folder)?.id ?? folder;

interface ActionOrigin {
  readonly found?: ActionEmails | undefined;
  /** The key of an action of an earlier client, which the caller gives back to the queue. */
  readonly restoredKey?: string;
}

class OptimisticAction implements Action {
  readonly done: Promise<void>;
  readonly progress$ = new ReplaySubject<number>(1);
  readonly queued: QueuedChange;
  readonly #ids: Set<string>;
  /** Emails that the server has handled. */
  readonly #handled = new Set<string>();
  readonly #change: Change;
  readonly #parts: ActionParts;
  readonly #overlay: Overlay;
  readonly #before = new Map<string, Before>();
  /** Emails that were known; of others the log tells what they were. */
  readonly #known = new Set<string>();
  readonly #told: Subscription;
  #isDone = false;
  #isRefused = false;
  #undone: Promise<void> | undefined;
  #finish = () => {};

  constructor(ids: readonly string[], change: Change, parts: ActionParts, { found, restoredKey }: ActionOrigin = {}) {
    this.#ids = new Set(ids);
    this.#change = change;
    this.#parts = parts;
    this.#overlay = { ids: new Set(ids), change };
    for (const id of ids) {
      const email = parts.find(id);
      // Earlier actions that are under way count as done.
      const before = email === undefined ? found?.find(id) : parts.overlays.apply(email);
      if (before === undefined) continue;
      this.#before.set(id, before);
      this.#known.add(id);
    }
    this.#told = parts.link.events$.subscribe((event) => this.#hear(event));
    let refused: (error: unknown) => void = () => {};
    this.done = new Promise((resolve, reject) => {
      this.#finish = resolve;
      refused = reject;
    });
    // Who ignores the outcome sees it in the lists.
    this.done.catch(() => {});
    this.queued = {
      key: restoredKey ?? newKey(),
      ids,
      change,
      unnamed: found?.unnamed,
      named: (others, known) => this.#include(others, known),
      progressed: (handled) => {
        for (const id of handled) if (this.#ids.has(id)) this.#handled.add(id);
        this.progress$.next(this.#handled.size);
      },
      carriedOut: () => {
        this.#isDone = true;
        this.progress$.complete();
        this.#finish();
        this.#settle();
      },
      refused: (error) => {
        // Whoever is signed in next has nothing to take back.
        if (isSignedOut(error)) this.#handled.clear();
        this.#isRefused = true;
        this.progress$.complete();
        this.#end();
        refused(error);
      },
    };
    parts.overlays.add(this.#overlay);
    if (restoredKey === undefined) parts.queue.add(this.queued);
  }

  #include(others: readonly string[], known: KnownEmails): void {
    for (const id of others) {
      const before = known.find(id);
      if (this.#ids.has(id) || before === undefined) continue;
      this.#ids.add(id);
      this.#before.set(id, before);
      this.#known.add(id);
    }
  }

  undo(): Promise<void> {
    this.#undone ??= this.#takeBack();
    return this.#undone;
  }

  async #takeBack(): Promise<void> {
    if (this.#parts.queue.withdraw(this.queued)) {
      this.#end();
      this.progress$.complete();
      this.#finish();
      return;
    }
    this.#parts.queue.stop(this.queued);
    if (this.#isKnownBefore) {
      await this.#carryOut(this.#inverse(this.#ids));
      return;
    }
    const isDone = await this.done.then(
      () => true,
      () => false,
    );
    // One that was refused half way is taken back where it was carried out.
    if (!isDone && this.#handled.size === 0) return;
    const inverse = this.#inverse(isDone ? this.#ids : this.#handled);
    if (isDone) this.#end();
    await this.#carryOut(inverse);
  }

  /**
   * What takes the action back can wait behind it, and shows at once: it is one request that nobody has answered, and changes nothing where
   * the action has changed nothing.
   */
  get #isKnownBefore(): boolean {
    if (this.#isDone || this.#isRefused || this.queued.unnamed !== undefined) return false;
    return this.#change.kind !== 'delete' && this.#ids.size <= BULK && this.#known.size === this.#ids.size;
  }

  async #carryOut(changes: readonly (readonly [Change, readonly string[]])[]): Promise<void> {
    const actions = changes.map(([change, ids]) => new OptimisticAction(ids, change, this.#parts));
    await Promise.all(actions.map(({ done }) => done));
  }

  #hear(event: ClientEvent): void {
    const { payload } = event;
    if (typeof payload !== 'object' || !('id' in payload) || !this.#overlay.ids.has(payload.id)) return;
    const { id } = payload;
    if (!this.#known.has(id)) this.#before.set(id, this.#learn(event, this.#before.get(id) ?? {}));
    // Somebody else has changed the email since, and the lists say how.
    if (this.#isDone && contradicts(event, this.#change)) this.#parts.overlays.release(this.#overlay, id);
  }

  /** What an event tells of the email before the action. */
  #learn({ type, payload }: ClientEvent, before: Before): Before {
    const { kind } = this.#change;
    switch (type) {
      case 'EmailUpdated':
        return kind === 'mark' ? { isRead: !payload.isRead, ...before } : before;
      case 'EmailFlagsChanged':
        return kind === 'flag' ? { isFlagged: !payload.isFlagged, ...before } : before;
      case 'EmailUnplaced':
        return { ...before, folderIds: [...(before.folderIds ?? []), payload.folderId] };
      case 'EmailPlaced':
        return { folderIds: [], ...before };
      default:
        return before;
    }
  }

  /** The changes that restore what was, each with its emails. */
  #inverse(ids: ReadonlySet<string>): readonly (readonly [Change, readonly string[]])[] {
    const groups = new Map<string, [Change, string[]]>();
    for (const id of ids) {
      for (const change of this.#inverseOf(this.#before.get(id))) {
        const key = JSON.stringify(change);
        const group = groups.get(key) ?? [change, []];
        group[1].push(id);
        groups.set(key, group);
      }
    }
    return [...groups.values()];
  }

  #inverseOf(before: Before | undefined): readonly Change[] {
    const change = this.#change;
    switch (change.kind) {
      case 'mark':
        return before?.isRead === !change.isRead ? [{ kind: 'mark', isRead: !change.isRead }] : [];
      case 'flag':
        return before?.isFlagged === !change.isFlagged ? [{ kind: 'flag', isFlagged: !change.isFlagged }] : [];
      case 'label':
        return before?.folderIds?.includes(change.labelId) === false
          ? [{ kind: 'unlabel', labelId: change.labelId }]
          : [];
      case 'unlabel':
        return before?.folderIds?.includes(change.labelId) ? [{ kind: 'label', labelId: change.labelId }] : [];
      case 'move':
        return this.#inverseOfMove(change, before?.folderIds ?? []);
      case 'delete':
        throw new Error('Emails that were deleted for good do not come back.');
    }
  }

  /** Back to the folder that the email has left, and its labels. */
  #inverseOfMove({ to, from }: Extract<Change, { kind: 'move' }>, before: readonly string[]): readonly Change[] {
    const { folder } = this.#parts;
    const isLabel = (id: string) => folder(id)?.role === 'label';
    const left = from === undefined ? before : before.filter((id) => id === from);
    const [home] = left.filter((id) => id !== to && !isLabel(id));
    const lost = left.filter((id) => id !== to && isLabel(id));
    const wasThere = before.includes(to);
    const back: Change[] = lost.map((labelId) => ({ kind: 'label', labelId }));
    if (home !== undefined) return [{ kind: 'move', to: home, ...(wasThere ? {} : { from: to }) }, ...back];
    return isLabel(to) && !wasThere ? [{ kind: 'unlabel', labelId: to }, ...back] : back;
  }

  /** The overlay goes when lists have the change; without a connection they get it with the next one. */
  #settle(): void {
    const { link } = this.#parts;
    const later = () => setTimeout(() => this.#end(), SETTLE_MS);
    if (link.isLive) later();
    else link.opened$.pipe(take(1)).subscribe(later);
  }

  #end(): void {
    this.#told.unsubscribe();
    this.#parts.overlays.remove(this.#overlay);
  }
}

/** True when the event says that the change is no longer what the email shows. */
function contradicts({ type, payload }: ClientEvent, change: Change): boolean {
  switch (type) {
    case 'EmailUpdated':
      return change.kind === 'mark' && payload.isRead !== change.isRead;
    case 'EmailFlagsChanged':
      return change.kind === 'flag' && payload.isFlagged !== change.isFlagged;
    case 'EmailPlaced':
      if (change.kind === 'move') return payload.folderId !== change.to;
      return change.kind === 'unlabel' && payload.folderId === change.labelId;
    case 'EmailUnplaced':
      if (change.kind === 'move') return payload.folderId === change.to;
      return change.kind === 'label' && payload.folderId === change.labelId;
    default:
      return false;
  }
}
