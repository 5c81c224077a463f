// All compose windows of this tab: opened for a new email, an answer or a draft, put away, closed, discarded, and opened again after a reload
// or a crash. `compose-dock.tsx` shows them.
import { signal } from '@preact/signals';
import { firstValueFrom } from 'rxjs';
import { type EmailDetail, NotFound } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { undo } from '../app/undo.js';
import { t } from '../i18n/t.js';
import { beginning } from './beginning.js';
import { ComposeWindow, contentOf, EMPTY_FIELDS, type WindowContent } from './compose-window.js';
import { DraftSaver } from './draft-saver.js';
import { Journal, type KeptWindow } from './journal.js';
import type { ComposeContext, Opening } from './open.js';
import { isOneOf, isPassing, type StoredVersion } from './stored-version.js';
import { alone, livingTabs } from './tabs.js';

/** A window and what saves it. */
export interface OpenWindow {
  readonly window: ComposeWindow;
  readonly saver: DraftSaver;
}

const DISCARD_MS = 10_000;
/** The width of a card with the space before it, in px. */
const CARD_WIDTH = 556;

export class ComposeWindows {
  readonly open = signal<readonly OpenWindow[]>([]);
  /** The window that gets the focus when it is shown. */
  readonly focused = signal<string | undefined>(undefined);
  /** Octets; until the server has told it, its default. */
  readonly maxMessageSize = signal(36_700_160);
  readonly context: ComposeContext;
  readonly #journal: Journal;
  readonly #tabId: string;
  readonly #stops: (() => void)[] = [];
  /** Windows of the journal that could not be opened without the server. */
  readonly #left = new Set<string>();
  /** Discarded drafts that the server still has, by the id of their window. */
  readonly #undeleted = new Map<string, string>();
  #hasRestored = false;
  /** What had the focus before a window was opened, by its id. */
  readonly #openers = new Map<string, Element | null>();

  /** `tabId`: of `claimTab`. */
  constructor(context: ComposeContext, tabId: string) {
    this.context = context;
    this.#tabId = tabId;
    this.#journal = new Journal(localStorage, context.account);
    context.client.request('GET', '/api/discovery').then(
      ({ maxMessageSize }) => {
        this.maxMessageSize.value = maxMessageSize;
      },
      () => undefined,
    );
    const events = context.client.events$.subscribe((event) => this.#notice(event));
    const resync = context.client.resync$.subscribe(() => {
      for (const { saver } of this.open.value) void saver.noticeChange();
    });
    const connection = context.client.connection$.subscribe((state) => {
      if (state === 'live') this.retry();
    });
    const onHide = () => {
      for (const { saver } of this.open.value) {
        saver.keep();
        saver.flush();
      }
    };
    window.addEventListener('pagehide', onHide);
    document.addEventListener('visibilitychange', onHide);
    this.#stops.push(
      () => events.unsubscribe(),
      () => resync.unsubscribe(),
      () => connection.unsubscribe(),
      () => window.removeEventListener('pagehide', onHide),
      () => document.removeEventListener('visibilitychange', onHide),
    );
  }

  /** Tries again at once what waits for the network or for a session. */
  retry(): void {
    for (const { saver } of this.open.value) saver.retry();
    for (const [windowId, draftId] of this.#undeleted) void this.#delete(windowId, draftId);
    if (this.#left.size > 0) void this.restore();
  }

  /** Ends with the session: windows stay in the journal. */
  stop(): void {
    for (const stop of this.#stops) stop();
    for (const { saver } of this.open.value) saver.stop();
    this.open.value = [];
  }

  /** Opens the windows that a closed, reloaded or crashed tab has left. */
  async restore(): Promise<void> {
    await alone(async () => {
      const orphans = this.#journal.orphans(await livingTabs(this.#tabId));
      for (const kept of orphans) {
        if (this.#hasRestored && !this.#left.has(kept.windowId)) continue;
        this.#left.delete(kept.windowId);
        // What cannot be read now stays in the journal.
        await this.#restored(kept).catch((error: unknown) => isPassing(error) && this.#left.add(kept.windowId));
      }
      this.#hasRestored = true;
    });
  }

  async show(opening: Opening): Promise<void> {
    if (opening.kind === 'draft') return this.#showDraft(opening.draftId);
    const original = opening.kind === 'new' ? undefined : await this.#original(opening.emailId);
    const content = beginning(opening, original, this.context);
    this.#add(newWindow(content), undefined);
  }

  /** Puts a window away or brings it back. */
  minimise({ window, saver }: OpenWindow, isMinimised: boolean): void {
    window.isMinimised.value = isMinimised;
    saver.keep();
    if (isMinimised) return;
    this.focused.value = window.id;
    this.#makeRoom(window.id);
  }

  /** Keeps the draft and closes its window. */
  close({ window, saver }: OpenWindow): void {
    const { phase } = saver.state.value;
    const isDone = phase === 'clean' || phase === 'saved' || phase === 'sent';
    if (!isDone) saver.flush();
    if (isDone && !window.hasOwn()) this.#remove(window.id);
    else window.isMinimised.value = true;
  }

  /** Deletes the draft, unless that is undone within some seconds, also after a reload. */
  discard({ window, saver }: OpenWindow): void {
    const discardAt = Date.now() + DISCARD_MS;
    const kept = saver.kept();
    this.#remove(window.id);
    if (kept !== undefined) this.#journal.keep({ ...kept, discardAt });
    this.#offerDiscarded(
      window.id,
      DISCARD_MS,
      () => saver.storedId,
      async () => {
        const again = new ComposeWindow(window.id, contentOfWindow(window));
        for (const [key, file] of window.blobs) again.blobs.set(key, file);
        const draftId = saver.storedId;
        const { etag } = saver.state.value;
        const added = this.#add(again, draftId === null ? undefined : { draftId, etag });
        if (kept?.unsaved !== null) added.saver.changed();
      },
    );
  }

  #offerDiscarded(windowId: string, ms: number, draftId: () => string | null, again: () => Promise<void>): void {
    const timer = setTimeout(() => void this.#delete(windowId, draftId()), ms);
    const takeBack = async () => {
      clearTimeout(timer);
      await again();
    };
    if (ms > 0) undo.offer({ text: t('compose.discarded'), ms, undo: takeBack });
  }

  /** The journal knows of the draft until the server has deleted it. */
  async #delete(windowId: string, draftId: string | null): Promise<void> {
    try {
      if (draftId !== null) await this.context.client.drafts.delete(draftId);
    } catch (error) {
      if (!(error instanceof NotFound)) {
        this.#undeleted.set(windowId, draftId!);
        return;
      }
    }
    this.#undeleted.delete(windowId);
    this.#journal.forget(windowId);
  }

  /** Closes cards of mail that is on its way for good, to make room. */
  closeSettled(): void {
    for (const { window, saver } of this.open.value) {
      if (saver.state.value.phase === 'sent' && saver.isSettled) this.#remove(window.id);
    }
  }

  remove({ window }: OpenWindow): void {
    this.#remove(window.id);
  }

  #add(
    window: ComposeWindow,
    stored: { readonly draftId: string; readonly etag: string | null } | undefined,
  ): OpenWindow {
    const options = {
      client: this.context.client,
      journal: this.#journal,
      tabId: this.#tabId,
      problemText: reasonOf,
    };
    const added = { window, saver: new DraftSaver(window, options, stored) };
    this.closeSettled();
    this.#openers.set(window.id, document.activeElement);
    this.open.value = [...this.open.value, added];
    if (!window.isMinimised.value) {
      this.focused.value = window.id;
      this.#makeRoom(window.id);
    }
    added.saver.keep();
    return added;
  }

  /** Puts the oldest windows away when the page is too narrow for all. */
  #makeRoom(newest: string): void {
    const room = Math.max(1, Math.floor((innerWidth - 24) / CARD_WIDTH));
    const shown = this.open.value.filter(({ window }) => !window.isMinimised.value && window.id !== newest);
    for (const { window } of shown.slice(0, Math.max(0, shown.length + 1 - room))) window.isMinimised.value = true;
  }

  /** Gives the focus back when it was in a window that is not shown any more. */
  returnFocus(id: string): void {
    const opener = this.#openers.get(id);
    if (document.activeElement !== document.body || !(opener instanceof HTMLElement) || !opener.isConnected) return;
    opener.focus({ preventScroll: true });
  }

  #remove(id: string): void {
    this.open.value.find(({ window }) => window.id === id)?.saver.close();
    this.open.value = this.open.value.filter(({ window }) => window.id !== id);
  }

  async #showDraft(draftId: string): Promise<void> {
    const open = this.open.value.find(({ saver }) => saver.state.value.draftId === draftId);
    if (open !== undefined) return this.minimise(open, false);
    const { draft, etag } = await this.context.client.drafts.read(draftId);
    this.#add(newWindow({ ...contentOf(draft), original: null }), { draftId, etag });
  }

  #restored(kept: KeptWindow): Promise<void> {
    if (kept.discardAt === null) return this.#restoreOne(kept);
    const again = () => this.#restoreOne({ ...kept, discardAt: null });
    const left = Math.max(0, kept.discardAt - Date.now());
    this.#offerDiscarded(kept.windowId, left, () => kept.draftId, again);
    return Promise.resolve();
  }

  async #restoreOne(kept: KeptWindow): Promise<void> {
    if (kept.sent !== null) return this.#restoreSent(kept, kept.sent);
    const { draftId, etag } = kept;
    const read = draftId === null ? undefined : await this.#read(draftId, kept);
    if (read === 'unheard') return this.#restoreUnheard(kept);
    const found = read;
    if (found === undefined && kept.unsaved === null) return this.#journal.forget(kept.windowId);
    const stored = found === undefined ? undefined : contentOf(found.draft);
    const fields = kept.unsaved ?? stored?.fields ?? EMPTY_FIELDS;
    const window = new ComposeWindow(kept.windowId, { fields, files: stored?.files ?? [], original: kept.original });
    window.isMinimised.value = kept.isMinimised;
    const isOwn = found !== undefined && isOneOf(kept.unheard ?? [], found.draft);
    const names = new Set(isOwn ? stored?.files.map(({ fileName }) => fileName) : []);
    window.lostFiles.value = kept.lostFiles.filter((name) => !names.has(name));
    const { saver } = this.#add(
      window,
      found === undefined ? undefined : { draftId: found.draft.id, etag: found.etag },
    );
    const hasConflict = found !== undefined && found.etag !== etag && etag !== null && !isOwn;
    if (kept.unsaved !== null) saver.resume(hasConflict ? found : undefined, kept.unheard);
    // A draft that is gone was sent or deleted meanwhile.
    if (!hasConflict && (found !== undefined || draftId === null)) this.#sendAgain(saver, kept);
  }

  /** The server does not answer: the window has what the journal knows, and the next save finds out whether the draft is another one. */
  #restoreUnheard({ windowId, draftId, etag, unsaved, files = [], wish, ...kept }: KeptWindow): void {
    const window = new ComposeWindow(windowId, { fields: unsaved!, files, original: kept.original });
    window.isMinimised.value = kept.isMinimised;
    window.lostFiles.value = kept.lostFiles;
    const { saver } = this.#add(window, { draftId: draftId!, etag });
    saver.resume(undefined, kept.unheard);
    this.#sendAgain(saver, { ...kept, ...(wish && { wish }) });
  }

  /** An email that waits to be sent. Without all of its files it stays a draft, and the window names them. */
  #sendAgain(saver: DraftSaver, { wish, lostFiles }: Pick<KeptWindow, 'wish' | 'lostFiles'>): void {
    if (wish && lostFiles.length === 0) saver.send(wish.sendAt);
  }

  /** The card of an email that can still be undone. */
  async #restoreSent(kept: KeptWindow, sent: NonNullable<KeptWindow['sent']>): Promise<void> {
    const isOver = sent.sendAt === null || Date.parse(sent.sendAt) < Date.now();
    if (isOver) return this.#journal.forget(kept.windowId);
    const content = { fields: kept.unsaved ?? EMPTY_FIELDS, files: [], original: kept.original };
    const { saver } = this.#add(new ComposeWindow(kept.windowId, content), undefined);
    saver.resumeSent(sent);
  }

  /** Undefined when the draft is gone. `unheard`: nothing answers, and the journal has all that the window needs. */
  async #read(draftId: string, { unsaved, files, etag }: KeptWindow): Promise<StoredVersion | 'unheard' | undefined> {
    try {
      return await this.context.client.drafts.read(draftId);
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      if (isPassing(error) && unsaved !== null && files !== undefined && etag !== null) return 'unheard';
      throw error;
    }
  }

  /** An email that was read before is there without a network, too. */
  #original(emailId: string): Promise<EmailDetail> {
    return firstValueFrom(this.context.client.email(emailId));
  }

  #notice({ type, payload }: { readonly type: string; readonly payload: unknown }): void {
    const id = (payload as { readonly id?: string } | null)?.id;
    const open = id === undefined ? undefined : this.open.value.find(({ saver }) => saver.state.value.draftId === id);
    if (open === undefined) return;
    if (type === 'DraftUpdated') void open.saver.noticeChange();
    else if (type === 'DraftDeleted' || type === 'DeliveryStatusChanged') {
      void open.saver.noticeEnd().then((isOver) => isOver && this.#remove(open.window.id));
    }
  }
}

const newWindow = (content: WindowContent): ComposeWindow => new ComposeWindow(newWindowId(), content);

/** Ids sort by time, so that windows come back in their order. */
const newWindowId = (): string => `w${Date.now().toString(36)}-${crypto.randomUUID()}`;

function contentOfWindow(window: ComposeWindow): WindowContent {
  return { fields: window.fields(), files: window.files.value, original: window.original };
}
