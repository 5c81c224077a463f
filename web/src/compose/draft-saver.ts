// Carries a compose window to the server: each change within a second, one request at a time, again after a fault of the network, and the
// send after the save of everything before it. What the server does not have yet is in the journal of the browser.
import { signal } from '@preact/signals';
import { Conflict, type Draft, type MansioClient, NetworkFault, NotFound } from '../../../src/client/index.js';
import { type DraftFile, foundIn, storedAs } from './attachments.js';
import { type ComposeWindow, contentOf } from './compose-window.js';
import {
  type DraftEvent,
  type DraftState,
  draftAfter,
  isUnsaved,
  newDraftState,
  nextStep,
  retryDelay,
  saveDelay,
} from './draft-state.js';
import { contentsOf } from './file-content.js';
import type { Journal, KeptWindow } from './journal.js';
import { keptOf } from './kept-window.js';
import { sendOptions } from './send-options.js';
import {
  findDraft,
  isOneOf,
  isPassing,
  namesOldFiles,
  type SentVersion,
  type StoredVersion,
  withVersion,
} from './stored-version.js';
import { followUpload } from './upload-progress.js';

export interface SaverOptions {
  readonly client: MansioClient;
  readonly journal: Journal;
  readonly tabId: string;
  /** Says in the reader's language why the server has refused. */
  problemText(error: unknown): string;
}

/** How long a change waits for its place in the journal. */
const KEEP_MS = 200;

export class DraftSaver {
  readonly state = signal<DraftState>(newDraftState());
  readonly other = signal<StoredVersion | undefined>(undefined);
  /** How much of a file has been sent, 0 to 1, by its key. */
  readonly progress = signal<ReadonlyMap<string, number>>(new Map());
  readonly #window: ComposeWindow;
  readonly #options: SaverOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #keepTimer: ReturnType<typeof setTimeout> | undefined;
  #firstChange: number | undefined;
  /** Events of the draft that this window's own saves still cause. */
  #ownEvents = 0;
  #isClosed = false;
  #storedId: string | null = null;
  /** What was sent with saves that had no answer: the server may have one of them. */
  #unheard: readonly SentVersion[] = [];
  /** True once nothing more happens to the email that was sent. */
  isSettled = false;

  constructor(
    window: ComposeWindow,
    options: SaverOptions,
    stored?: { readonly draftId: string; readonly etag: string | null },
  ) {
    this.#window = window;
    this.#options = options;
    if (stored !== undefined) this.state.value = newDraftState(stored.draftId, stored.etag);
  }

  /** Something in the window has changed. */
  changed(): void {
    this.#apply({ type: 'changed' });
  }

  /** Sends when everything is saved. `sendAt`: null for at once. */
  send(sendAt: string | null): void {
    this.#apply({ type: 'sendWished', wish: { sendAt } });
  }

  /** What waits for the network stays a draft. */
  doNotSend(): void {
    this.#apply({ type: 'sendWithdrawn' });
  }

  /** Saves now, without the pause. */
  flush(): void {
    if (nextStep(this.state.value) === 'save') this.#schedule(0);
  }

  /** The window goes; what is under way ends unheard. */
  close(): void {
    this.#end();
    this.#options.journal.forget(this.#window.id);
  }

  /** The session ends: nothing more is sent, and the journal keeps the window for the account. */
  stop(): void {
    this.keep();
    this.#end();
  }

  #end(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#keepTimer);
  }

  /** Tries again at once what waits for the network. */
  retry(): void {
    if (this.state.value.phase !== 'offline') return;
    this.#apply({ type: 'retried' });
    this.flush();
  }

  /** Not with each key: a long text takes a while to write. */
  #keepSoon(): void {
    this.#keepTimer ??= setTimeout(() => this.keep(), KEEP_MS);
  }

  /** Writes the window into the journal, for a page that is closed or crashes. */
  keep(): void {
    clearTimeout(this.#keepTimer);
    this.#keepTimer = undefined;
    if (this.#isClosed) return;
    const kept = this.kept();
    if (kept === undefined) this.#options.journal.forget(this.#window.id);
    else this.#options.journal.keep(kept);
  }

  /** The entry of the journal; undefined when nothing is to be found again. */
  kept(): KeptWindow | undefined {
    return keptOf(this.#window, this.state.value, this.#options.tabId, this.#unheard);
  }

  /** The conflict is decided for what stands here. */
  keepMine(): void {
    const other = this.state.value.phase === 'gone' ? undefined : this.other.value;
    this.#adoptFiles(other?.draft);
    this.other.value = undefined;
    this.#apply({ type: 'keptMine', etag: other?.etag ?? null });
    this.flush();
  }

  /** The conflict is decided for both: what stands here becomes a draft of its own. */
  keepBoth(): void {
    this.#adoptFiles(this.other.value?.draft);
    this.other.value = undefined;
    this.#apply({ type: 'keptMine', etag: null });
    this.flush();
  }

  takeTheirs(): void {
    const other = this.other.value;
    if (other === undefined) return;
    this.other.value = undefined;
    this.show(other);
  }

  /** Shows a version of the server in place of what stands here. */
  show({ draft, etag }: StoredVersion): void {
    this.#window.blobs.clear();
    this.#window.show(contentOf(draft));
    this.#apply({ type: 'tookTheirs', draftId: draft.id, etag });
  }

  /** A kept window comes back with what the server did not have. `unheard`: what its saves sent that had no answer. */
  resume(hasConflict: StoredVersion | undefined, unheard: readonly SentVersion[] = []): void {
    this.#unheard = unheard;
    this.#apply({ type: 'changed' });
    if (hasConflict === undefined) return;
    this.other.value = hasConflict;
    this.#apply({ type: 'conflicted' });
  }

  /** A kept window comes back as that of an email that was sent. */
  resumeSent({ outboundId, sendAt }: NonNullable<DraftState['sent']>): void {
    this.#apply({ type: 'sent', outboundId, sendAt });
  }

  /** The id of the draft on the server, also when it came after the window was closed. */
  get storedId(): string | null {
    return this.#storedId ?? this.state.value.draftId;
  }

  /** The draft was sent, and is a draft again. */
  async undone(draftId: string): Promise<void> {
    const { draft, etag } = await this.#options.client.drafts.read(draftId);
    this.#window.show(contentOf(draft));
    this.#ownEvents = 0;
    this.#apply({ type: 'undone', draftId, etag });
  }

  /** Somebody has changed the draft: this window by its saves, or another one. */
  async noticeChange(): Promise<void> {
    if (this.#ownEvents > 0) {
      this.#ownEvents--;
      return;
    }
    const { draftId, phase } = this.state.value;
    if (draftId === null || phase === 'sent' || phase === 'sending' || phase === 'gone') return;
    await this.#compare(draftId).catch(() => undefined);
  }

  /**
   * The draft was deleted, or sent, perhaps by somebody else: the server says. Resolves with true when the window has nothing of its own and
   * may go.
   */
  async noticeEnd(): Promise<boolean> {
    const { draftId } = this.state.value;
    if (draftId === null || !this.#isIdle() || !(await this.#isGone(draftId)) || !this.#isIdle()) return false;
    if (!isUnsaved(this.state.value) && !this.#window.hasOwn()) return true;
    this.#apply({ type: 'vanished' });
    return false;
  }

  /** A request that is under way finds out by itself. */
  #isIdle(): boolean {
    const { phase } = this.state.value;
    return !this.#isClosed && phase !== 'sending' && phase !== 'sent' && phase !== 'saving' && phase !== 'gone';
  }

  async #isGone(draftId: string): Promise<boolean> {
    return this.#options.client.drafts.read(draftId).then(
      () => false,
      (error: unknown) => error instanceof NotFound,
    );
  }

  async #compare(draftId: string): Promise<void> {
    const found = await this.#options.client.drafts.read(draftId);
    const { etag, phase } = this.state.value;
    // A save that is under way is refused by itself when it must be.
    if (this.#isClosed || found.etag === etag || phase === 'saving' || phase === 'sending' || phase === 'sent') return;
    if (!isUnsaved(this.state.value) && !this.#window.hasOwn()) return this.show(found);
    this.other.value = found;
    this.#apply({ type: 'conflicted' });
  }

  #apply(event: DraftEvent): void {
    if (this.#isClosed) return;
    const before = this.state.value;
    this.state.value = draftAfter(before, event);
    this.#keepSoon();
    const { phase } = this.state.value;
    if (phase === 'offline') this.#retryLater();
    else if (phase === 'dirty') {
      this.#firstChange ??= performance.now();
      const waited = performance.now() - this.#firstChange;
      this.#schedule(this.state.value.wish === null ? saveDelay(waited) : 0);
    } else if (nextStep(this.state.value) === 'send') void this.#send();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#save(), ms);
  }

  #retryLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.retry(), retryDelay(this.state.value));
  }

  async #save(): Promise<void> {
    if (this.#isClosed || nextStep(this.state.value) !== 'save') return;
    this.#firstChange = undefined;
    this.#apply({ type: 'saveBegan' });
    try {
      await this.#store();
    } catch (error) {
      await this.#failed(error);
    }
  }

  async #store(): Promise<void> {
    const { client } = this.#options;
    const { draftId, etag } = this.state.value;
    const window = this.#window;
    // A new draft is made without its files, so that the text is safe before they travel.
    const uploads = draftId === null ? [] : window.files.value.filter(({ key }) => window.blobs.has(key));
    const contents = await contentsOf(uploads, window.blobs);
    this.#dropUnreadable(uploads.filter(({ key }) => !contents.has(key)));
    const sent = window.files.value
      .filter(({ key, stored }) => stored !== null || contents.has(key))
      .map(({ key }) => key);
    const input = window.input(contents);
    const before = this.#unheard;
    this.#unheard = withVersion(before, input);
    this.#ownEvents++;
    if (draftId === null) {
      const found = before.length === 0 ? undefined : await findDraft(client, before);
      if (found !== undefined) return this.#apply({ type: 'found', draftId: found.draft.id, etag: found.etag });
      const made = await client.drafts.create(input);
      // The event of a new draft names an id that nobody knows before.
      this.#ownEvents = 0;
      this.#stored(made.draft.id, made.etag, made.draft, sent);
      if (window.blobs.size > 0) this.#apply({ type: 'changed' });
      return;
    }
    const stop = this.#follow(draftId, uploads);
    try {
      const next = await client.drafts.update(draftId, input, etag ?? undefined);
      // The places of attachments are those of the version.
      const draft = sent.length > 0 ? (await client.drafts.read(draftId)).draft : undefined;
      for (const { key } of uploads) window.blobs.delete(key);
      this.#stored(draftId, next, draft, sent);
    } finally {
      stop();
    }
  }

  #stored(draftId: string, etag: string, draft: Draft | undefined, sent: readonly string[]): void {
    const { files } = this.#window;
    this.#storedId = draftId;
    this.#unheard = [];
    if (draft !== undefined) files.value = storedAs(files.value, sent, draftId, draft.attachments);
    this.#apply({ type: 'saved', draftId, etag });
  }

  async #failed(error: unknown): Promise<void> {
    this.#ownEvents = 0;
    if (this.#isClosed) return;
    const { draftId, phase } = this.state.value;
    const isStale = error instanceof Conflict || namesOldFiles(error);
    if (isStale && draftId !== null) return this.#conflicted(draftId, error);
    if (error instanceof NotFound && draftId !== null) return this.#apply({ type: 'vanished' });
    if (isPassing(error)) return this.#apply({ type: 'unreachable' });
    const problem = this.#options.problemText(error);
    this.#apply(phase === 'sending' ? { type: 'sendRefused', problem } : { type: 'refused', problem });
  }

  /** The server has another version. One that this window itself has written without hearing the answer is no conflict. */
  async #conflicted(draftId: string, reason: unknown): Promise<void> {
    try {
      const found = await this.#options.client.drafts.read(draftId);
      if (found.etag === this.state.value.etag) {
        return this.#apply({ type: 'refused', problem: this.#options.problemText(reason) });
      }
      if (isOneOf(this.#unheard, found.draft)) {
        this.#adoptFiles(found.draft);
        return this.#apply({ type: 'keptMine', etag: found.etag });
      }
      this.other.value = found;
      this.#apply({ type: 'conflicted' });
    } catch (error) {
      this.#apply(error instanceof NotFound ? { type: 'vanished' } : { type: 'unreachable' });
    }
  }

  async #send(): Promise<void> {
    const { draftId, etag, wish } = this.state.value;
    if (draftId === null || wish === null) return;
    this.#apply({ type: 'sendBegan' });
    try {
      const options = sendOptions(wish, this.#window.original, new Date());
      const queued = await this.#options.client.drafts.send(draftId, { ...options, ...(etag !== null && { etag }) });
      this.#apply({ type: 'sent', outboundId: queued.id, sendAt: queued.sendAt ?? null });
    } catch (error) {
      await this.#sendFailed(draftId, error);
    }
  }

  /** Without an answer the send may have happened: the server says. */
  async #sendFailed(draftId: string, error: unknown): Promise<void> {
    if (!(error instanceof NetworkFault)) return this.#failed(error);
    try {
      const email = await this.#options.client.request('GET', '/api/outbound/{id}', { params: { id: draftId } });
      if (email.status === 'Draft') return this.#failed(error);
      this.#apply({ type: 'sent', outboundId: draftId, sendAt: email.sendAt });
    } catch (again) {
      await this.#failed(again);
    }
  }

  /** Finds the window's stored files in the version that the server has now. */
  #adoptFiles(draft: Draft | undefined): void {
    const { files, lost } = foundIn(this.#window.files.value, draft);
    this.#window.files.value = files;
    this.#window.lostFiles.value = [...this.#window.lostFiles.value, ...lost];
  }

  /** A file that was moved or changed since it was chosen cannot be read any more. */
  #dropUnreadable(files: readonly DraftFile[]): void {
    if (files.length === 0) return;
    const { blobs, files: shown, lostFiles } = this.#window;
    for (const { key } of files) blobs.delete(key);
    shown.value = shown.value.filter((file) => !files.includes(file));
    lostFiles.value = [...lostFiles.value, ...files.map(({ fileName }) => fileName)];
  }

  #follow(draftId: string, uploads: readonly DraftFile[]): () => void {
    if (uploads.length === 0) return () => {};
    const stop = followUpload(`/api/outbound/drafts/${draftId}`, (fraction) => {
      this.progress.value = new Map(uploads.map(({ key }) => [key, fraction]));
    });
    return () => {
      stop();
      this.progress.value = new Map();
    };
  }
}
