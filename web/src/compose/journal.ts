// What the browser keeps of open compose windows, so that a closed window or a crashed tab loses nothing: for each window its draft on the
// server and whatever the server does not have yet. Each tab writes its own windows; those of tabs that are gone are taken over at the next
// start. Files are not kept: their names are, so that the reader is told which to attach again.
import type { DraftFile } from './attachments.js';
import type { Recipients } from './recipients.js';
import type { SentVersion } from './stored-version.js';

export interface DraftFields {
  readonly from: string | null;
  readonly recipients: Recipients;
  /** Text that was typed into a field and is no entry yet. */
  readonly typed: Readonly<Record<'To' | 'Cc' | 'Bcc', string>>;
  readonly subject: string;
  /** As it is sent: images are `cid:` URLs. */
  readonly html: string;
  /** Fields such as References. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface KeptWindow {
  readonly windowId: string;
  readonly tabId: string;
  readonly draftId: string | null;
  readonly etag: string | null;
  readonly isMinimised: boolean;
  /** The email that is answered or forwarded. */
  readonly original: { readonly emailId: string; readonly how: 'repliesTo' | 'forwards' } | null;
  /** Null when the server has everything. */
  readonly unsaved: DraftFields | null;
  /** Files that the server has, for a window that comes back without a network. Entries of the first pages have none. */
  readonly files?: readonly DraftFile[];
  /** Set while an email waits to be sent. `sendAt`: ISO 8601, null for at once. */
  readonly wish?: { readonly sendAt: string | null } | null;
  /** Names of files that were not uploaded yet. */
  readonly lostFiles: readonly string[];
  /** Set while an email that was sent can be undone. */
  readonly sent: { readonly outboundId: string; readonly sendAt: string | null } | null;
  /** When a discarded draft is deleted, unless that is undone. ms since the epoch */
  readonly discardAt: number | null;
  /** What saves sent whose answers did not come: the server may have one of them. */
  readonly unheard?: readonly SentVersion[];
}

/** The members of the browser's storage that are used. */
export interface Storage {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const PREFIX = 'mansio.compose.';

export class Journal {
  readonly #storage: Storage;
  readonly #prefix: string;

  /** `account`: windows of another account that uses this browser stay untouched. */
  constructor(storage: Storage, account: string) {
    this.#storage = storage;
    this.#prefix = `${PREFIX}${account}.`;
  }

  /** Returns false when the browser has no room: then the server's copy is the only one. */
  keep(window: KeptWindow): boolean {
    try {
      this.#storage.setItem(this.#prefix + window.windowId, JSON.stringify(window));
      return true;
    } catch {
      return false;
    }
  }

  forget(windowId: string): void {
    this.#storage.removeItem(this.#prefix + windowId);
  }

  /** The windows of tabs that are not among `living`. An entry that cannot be read is removed. */
  orphans(living: ReadonlySet<string>): readonly KeptWindow[] {
    const keys = Array.from({ length: this.#storage.length }, (_, i) => this.#storage.key(i));
    const found = keys.flatMap((key) => {
      if (key === null || !key.startsWith(this.#prefix)) return [];
      const window = parsed(this.#storage.getItem(key));
      if (window === undefined) this.#storage.removeItem(key);
      return window === undefined || living.has(window.tabId) ? [] : [window];
    });
    return found.sort((a, b) => (a.windowId < b.windowId ? -1 : 1));
  }
}

function parsed(text: string | null): KeptWindow | undefined {
  try {
    const value = JSON.parse(text ?? 'null') as KeptWindow | null;
    return typeof value?.windowId === 'string' && typeof value.tabId === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
