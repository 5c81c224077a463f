// The changes that a session sends between commands, and during IDLE, after NOTIFY (RFC 5465). An event of the account only
// triggers a check; the session sends the difference between the present state and the state that was last sent. Nothing is sent
// while a command runs: `hold` waits for what is being written.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MailboxEvent } from '../../../actors/mailbox/protocol.js';
import { fetchMessages } from '../commands/fetch.js';
import { Refused } from '../completion.js';
import type { FetchAttribute } from '../grammar/fetch.js';
import { rangesOf } from '../mailboxes/uid-ranges.js';
import { takesUtf8 } from '../responses/list.js';
import { changedMetadataResponse } from '../responses/metadata.js';
import type { FolderStatus } from '../responses/status.js';
import { writeSearchUpdates } from '../search/updating-searches.js';
import type { Notifier, OwnChange, Session } from '../session.js';
import type { AccountListener } from '../view/account-events.js';
import type { FolderView } from '../view/folder-view.js';
import { differences, type Folders, shownName } from './folder-differences.js';
import { KnownFolders } from './known-folders.js';
import type { NotifyRules } from './notify-rules.js';

/** ms until changes that could not be read are read again. */
const RETRY_MS = 1000;
/** Names of annotations that wait to be sent; more are dropped, and the client has to read them (GETMETADATA). */
const MOST_ANNOTATIONS = 1000;

/** Returns the folders of the session's account. @throws ActorFault */
export async function readFolders({ context, accountId }: Session): Promise<ReadonlyMap<string, FolderStatus>> {
  const { reply } = await context.mailboxes.of(accountId).ask('folderStatus', {});
  return new Map(reply!.folders.map((folder) => [folder.id, folder]));
}

export class Notifications implements Notifier, AccountListener {
  readonly #session: Session;
  readonly #rules: NotifyRules;
  readonly #folders: KnownFolders;
  /** Names of entries that changed, by folder; null stands for the account. */
  readonly #annotations = new Map<string | null, Set<string>>();
  #isBehind = true;
  #isPaused = true;
  #mayExpunge = false;
  #sentModseq = 0;
  #sentUid = Number.POSITIVE_INFINITY;
  #isOver = false;
  #telling: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #view: FolderView | undefined;
  /** Messages of the view up to this UID existed when the mailbox was selected, or were reported with their attributes. */
  #fetched = 0;
  /** Ranges of UIDs above `#fetched` whose messages the client has added itself. */
  #own: (readonly [first: number, last: number])[] = [];

  /** `folders` is the present state, which the client is assumed to know. A command runs at this time. */
  constructor(session: Session, rules: NotifyRules, folders: Folders) {
    this.#session = session;
    this.#rules = rules;
    this.#folders = new KnownFolders(folders);
    session.context.mirrors.events.add(session.accountId, this);
  }

  get sendsFlags(): boolean {
    return this.#rules.selected?.events.has('FlagChange') === true;
  }

  get isTelling(): boolean {
    return this.#telling !== undefined;
  }

  get sentModseq(): number {
    return this.#sentModseq;
  }

  get sentUid(): number {
    return this.#sentUid;
  }

  followed(): void {
    this.#wake();
  }

  unfollowed(): void {}

  heard(events: readonly MailboxEvent[]): void {
    if (this.#rules.hasFolders) {
      for (const event of events) if (event.type === 'AnnotationsChanged') this.#note(event.payload);
    }
    this.#wake();
  }

  async hold(): Promise<void> {
    this.#isPaused = true;
    await this.#telling;
  }

  release(during: 'idle' | 'no command'): void {
    this.#isPaused = false;
    this.#mayExpunge = during === 'idle' || this.#rules.selected?.filter.type === 'selected';
    const { selected } = this.#session;
    this.#sentModseq = selected?.view.sentModseq ?? 0;
    if (selected?.view !== this.#view) {
      this.#view = selected?.view;
      this.#fetched = lastUid(this.#view);
      this.#own = [];
    }
    this.#sentUid = this.#fetchesNew ? this.#fetched : Number.POSITIVE_INFINITY;
    if (this.#isBehind || this.#view?.hasExpunged === true) this.#wake();
  }

  caused(change: OwnChange): void {
    if (this.#rules.hasFolders) this.#folders.caused(change);
    const isOfSelected = change.folderId === this.#session.selected?.folderId;
    if (change.type === 'messages' && isOfSelected && this.#fetchesNew) this.#own.push(...change.uids);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#retry);
    this.#session.context.mirrors.events.remove(this.#session.accountId, this);
  }

  get #fetchesNew(): boolean {
    return (this.#rules.selected?.attributes.length ?? 0) > 0;
  }

  get #tellsSelected(): boolean {
    return (this.#rules.selected?.events.size ?? 0) > 0;
  }

  #note({ folderId, entries }: Extract<MailboxEvent, { type: 'AnnotationsChanged' }>['payload']): void {
    let names = this.#annotations.get(folderId);
    if (names === undefined) {
      if (this.#annotations.size === MOST_ANNOTATIONS) return;
      names = new Set();
      this.#annotations.set(folderId, names);
    }
    for (const { name } of entries) if (names.size < MOST_ANNOTATIONS) names.add(name);
  }

  #wake(): void {
    this.#isBehind = true;
    if (this.#isPaused || this.#isOver || this.#telling !== undefined) return;
    this.#telling = this.#tellAll().finally(() => {
      this.#telling = undefined;
      if (this.#isBehind && this.#retry === undefined) this.#wake();
    });
  }

  async #tellAll(): Promise<void> {
    try {
      while (this.#isBehind && !this.#isPaused && !this.#isOver) {
        // Events of one turn are sent together.
        await nextTurn();
        this.#isBehind = false;
        await this.#tellFolders();
        await this.#tellSelected();
      }
    } catch (err) {
      this.#isBehind = true;
      const { log, accountId } = this.#session;
      log.warn({ err, accountId }, 'changes for NOTIFY could not be read');
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#wake();
      }, RETRY_MS).unref();
    }
  }

  async #tellFolders(): Promise<void> {
    if (!this.#rules.hasFolders) return;
    const session = this.#session;
    const after = await readFolders(session);
    if (this.#isOver) return;
    const before = this.#folders.before(after);
    const responses = differences(this.#rules, before, after, session.selected?.folderId, takesUtf8(session));
    this.#folders.sent(after);
    responses.push(...this.#takeAnnotations());
    for (const response of responses) {
      session.output.write(response);
      if (session.output.ready) await session.output.ready;
    }
  }

  #takeAnnotations(): string[] {
    const responses: string[] = [];
    const isUtf8 = takesUtf8(this.#session);
    for (const [folderId, names] of this.#annotations) {
      const folder = folderId === null ? undefined : this.#folders.get(folderId);
      const isWanted =
        folderId === null
          ? this.#rules.hasServerMetadata
          : folder !== undefined && this.#rules.eventsOf(folder).has('MailboxMetadataChange');
      if (!isWanted) continue;
      responses.push(changedMetadataResponse(folder === undefined ? '' : shownName(folder), names, isUtf8));
    }
    this.#annotations.clear();
    return responses;
  }

  async #tellSelected(): Promise<void> {
    const session = this.#session;
    const { selected } = session;
    if (selected === undefined || !this.#tellsSelected) return;
    const { view } = selected;
    if (view.mirror.isStale) await view.mirror.sync();
    if (this.#isOver) return;
    if (view.mirror.isGone) {
      session.end('The selected mailbox was deleted');
      session.connection.cut('over');
      return;
    }
    do {
      session.sendUpdates(this.#mayExpunge);
      if (session.output.ready !== undefined) await session.output.ready;
    } while (view.hasPendingFlags && !this.#isOver);
    await writeSearchUpdates(session);
    if (this.#fetchesNew) await this.#fetch(view, this.#rules.selected!.attributes);
  }

  /** Fetches the messages that are new to the client, except those that it has added itself (RFC 5465 §5.2). */
  async #fetch(view: FolderView, attributes: readonly FetchAttribute[]): Promise<void> {
    const last = lastUid(view);
    if (last <= this.#fetched) return;
    const uids: number[] = [];
    for (let position = view.count - 1; position >= 0 && view.uidAt(position) > this.#fetched; position--) {
      const uid = view.uidAt(position);
      if (!this.#own.some(([from, to]) => from <= uid && uid <= to)) uids.push(uid);
    }
    const asked = {
      set: rangesOf(uids.reverse()),
      attributes,
      changedSince: undefined,
      withVanished: false,
      page: undefined,
    };
    try {
      if (uids.length > 0) await fetchMessages(this.#session, asked, true);
    } catch (error) {
      // A FETCH that was refused as too large would be refused again.
      if (!(error instanceof Refused)) throw error;
    }
    this.#fetched = last;
    this.#own = this.#own.filter(([, to]) => to > last);
  }
}

/** The highest UID that the client knows of; 0 when the mailbox is empty. */
const lastUid = (view: FolderView | undefined): number =>
  view === undefined || view.count === 0 ? 0 : view.uidAt(view.count - 1);
