// The actions on emails: each is shown at once, sent in its turn, and can be taken back. What it has really changed is known from the emails
// that are shown and, for others, from the events of the log.
import { ReplaySubject, type Subscription, take } from 'rxjs';
import type { Action, ActionEmails, Actions, KnownEmail, KnownEmails, LateRefusal, UndoStep } from '../client-types.js';
import type { ClientEvent, HubLink } from '../hub/hub-link.js';
import type { StoredValue } from '../offline/client-storage.js';
import { isSignedOut } from '../refusal.js';
import { type ActionQueue, BULK, type QueuedChange, type StoredAction } from './action-queue.js';
import type { Change } from './change.js';
import type { Changeable, FolderFinder, Overlay, Overlays } from './overlays.js';

/** After the reply the lists still get the change: its overlay stays for this time. ms */
const SETTLE_MS = 2_000;

export interface ActionParts {
  readonly queue: ActionQueue;
  readonly overlays: Overlays;
  readonly link: HubLink;
  readonly folder: FolderFinder;
  /** An email as the server has it, where it is known. */
  find(id: string): Changeable | undefined;
  /** The actions of earlier clients, by their keys. */
  readonly restored: Map<string, Action>;
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
    async restored(key) {
      await parts.queue.tookOver();
      return parts.restored.get(key);
    },
    carryOut: (steps) => carryOut(steps, parts),
  };
}

async function carryOut(steps: readonly UndoStep[], parts: ActionParts): Promise<void> {
  const actions = steps.map(({ change, ids }) => new OptimisticAction(ids, change, parts));
  await Promise.all(actions.map(({ done }) => done));
}

/** What earlier clients have not sent: it is shown, and sent in the order of time. */
export function restoreActions(
  values: readonly StoredValue[],
  parts: ActionParts,
  refused: (refusal: LateRefusal) => void,
): void {
  const restored = values.map(({ key, value }) => {
    const { ids, change, unnamed, steps } = value as StoredAction;
    const action = new OptimisticAction(ids, change, parts, {
      restored: { key, steps },
      found: { find: () => undefined, unnamed },
    });
    action.done.catch((error: Error) => refused({ ids, error }));
    parts.restored.set(key, action);
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
  /** What the storage had of an action of an earlier client, which the caller gives back to the queue. */
  readonly restored?: { readonly key: string; readonly steps?: readonly UndoStep[] | undefined };
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
  readonly #known: Set<string>;
  /** What an earlier client knew of the emails. */
  readonly #earlier: readonly UndoStep[];
  readonly #told: Subscription;
  #isDone = false;
  #isRefused = false;
  #isStopped = false;
  #undone: Promise<void> | undefined;
  #finish = () => {};

  constructor(ids: readonly string[], change: Change, parts: ActionParts, { found, restored }: ActionOrigin = {}) {
    this.#ids = new Set(ids);
    this.#change = change;
    this.#parts = parts;
    this.#overlay = { ids: new Set(ids), change };
    this.#earlier = restored?.steps ?? [];
    this.#known = new Set(restored?.steps && ids);
    for (const id of restored === undefined ? ids : []) {
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
      key: restored?.key ?? newKey(),
      ids,
      change,
      unnamed: found?.unnamed,
      named: (others, known) => this.#include(others, known),
      steps: () => this.#knownSteps(),
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
    if (restored === undefined) parts.queue.add(this.queued);
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

  get key(): string {
    return this.queued.key;
  }

  steps(): readonly UndoStep[] | undefined {
    return this.queued.unnamed === undefined ? this.#knownSteps() : undefined;
  }

  #knownSteps(): readonly UndoStep[] | undefined {
    if (this.#change.kind === 'delete' || this.#known.size < this.#ids.size) return undefined;
    return this.#inverse(this.#isStopped ? this.#handled : this.#ids);
  }

  stop(): void {
    if (this.#isDone || this.#isRefused) return;
    this.#isStopped = true;
    if (this.#withdraw()) this.#isDone = true;
    else this.#parts.queue.stop(this.queued);
  }

  undo(): Promise<void> {
    this.#undone ??= this.#takeBack();
    return this.#undone;
  }

  async #takeBack(): Promise<void> {
    if (this.#withdraw()) return;
    this.#parts.queue.stop(this.queued);
    if (this.#isKnownBefore) {
      await carryOut(this.#inverse(this.#ids), this.#parts);
      return;
    }
    const isDone = await this.done.then(
      () => true,
      () => false,
    );
    // One that was refused half way is taken back where it was carried out.
    if (!isDone && this.#handled.size === 0) return;
    const inverse = this.#inverse(isDone && !this.#isStopped ? this.#ids : this.#handled);
    if (isDone) this.#end();
    await carryOut(inverse, this.#parts);
  }

  /** False when something of it may have been sent. */
  #withdraw(): boolean {
    if (!this.#parts.queue.withdraw(this.queued)) return false;
    this.#end();
    this.progress$.complete();
    this.#finish();
    return true;
  }

  /**
   * What takes the action back can wait behind it, and shows at once: it is one request that nobody has answered, and changes nothing where
   * the action has changed nothing.
   */
  get #isKnownBefore(): boolean {
    if (this.#isDone || this.#isRefused || this.#isStopped || this.queued.unnamed !== undefined) return false;
    return this.#change.kind !== 'delete' && this.#ids.size <= BULK && this.#known.size === this.#ids.size;
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
  #inverse(ids: ReadonlySet<string>): readonly UndoStep[] {
    const groups = new Map<string, { readonly change: Change; readonly ids: string[] }>();
    const add = (change: Change, id: string) => {
      const key = JSON.stringify(change);
      const group = groups.get(key) ?? { change, ids: [] };
      group.ids.push(id);
      groups.set(key, group);
    };
    for (const step of this.#earlier) for (const id of step.ids) if (ids.has(id)) add(step.change, id);
    for (const id of ids) for (const change of this.#inverseOf(this.#before.get(id))) add(change, id);
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
      // No action of a user is a copy: it only takes back a move.
      case 'copy':
        return [];
      case 'delete':
        throw new Error('Emails that were deleted for good do not come back.');
    }
  }

  /** Back to the folders and labels that the email has left. */
  #inverseOfMove(change: Extract<Change, { kind: 'move' }>, before: readonly string[]): readonly Change[] {
    const { to } = change;
    const isLabel = (id: string) => this.#parts.folder(id)?.role === 'label';
    const left = before.filter((id) => this.#isLeft(id, change));
    const homes = left.filter((id) => !isLabel(id));
    const labels: Change[] = left.filter(isLabel).map((labelId) => ({ kind: 'label', labelId }));
    const copies = (ids: readonly string[]): Change[] => ids.map((id) => ({ kind: 'copy', to: id }));
    if (before.includes(to)) return [...copies(homes), ...labels];
    const [home, ...others] = homes;
    if (home !== undefined) return [{ kind: 'move', to: home, from: to }, ...copies(others), ...labels];
    return isLabel(to) ? [{ kind: 'unlabel', labelId: to }, ...labels] : labels;
  }

  /** Whether the move takes an email out of this folder or label. */
  #isLeft(id: string, { to, from }: Extract<Change, { kind: 'move' }>): boolean {
    if (id === to) return false;
    if (from !== undefined) return id === from;
    const [role, target] = [this.#parts.folder(id)?.role, this.#parts.folder(to)?.role];
    if (target === 'label') return role === 'inbox' || role === 'trash' || role === 'junk';
    return role !== 'label' || target === undefined || target === 'trash' || target === 'junk';
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
