// The way into writing for the other parts of the page. What writes, and the editor, are loaded with the first window.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { MansioClient } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { undo } from '../app/undo.js';
import { gatedClient } from './gated-client.js';
import type { MailtoFields } from './mailto.js';

export type Opening =
  /** The fields as a `mailto:` link has them. */
  | ({ readonly kind: 'new' } & Partial<MailtoFields>)
  | { readonly kind: 'reply' | 'replyAll' | 'forward'; readonly emailId: string }
  | { readonly kind: 'draft'; readonly draftId: string };

/** What writing knows of the account that is signed in. */
export interface ComposeContext {
  readonly client: MansioClient;
  /** The address of the account. */
  readonly account: string;
  /** The addresses that mail can be sent from, the account's first. */
  own(): readonly string[];
  /** HTML, or empty. `from`: the address of the sender; null for the account's own one. */
  signature(from: string | null): string;
  /** Whether an address has a signature of its own. */
  hasSignatures(): boolean;
}

interface Windows {
  show(opening: Opening): Promise<void>;
  retry(): void;
  stop(): void;
}

/** Shows the windows once there are any: `ComposeHost` renders it. */
const dock = signal<ComponentType | undefined>(undefined);

let context: ComposeContext | undefined;
/** False while nobody is signed in. */
let isSignedIn = false;
let loading: Promise<Windows> | undefined;

export const compose = {
  /**
   * Follows the account that is signed in. Its windows go on where they were when its session ended; otherwise those are opened that a
   * closed or crashed page has left.
   */
  start(of: ComposeContext): void {
    isSignedIn = true;
    if (context?.account === of.account) {
      void loading?.then((loaded) => loaded.retry());
      return;
    }
    compose.stop();
    isSignedIn = true;
    context = { ...of, client: gatedClient(of.client, () => isSignedIn) };
    if (hasKept(of.account)) void windows();
  },

  /** The session has ended: the windows wait for the next one of the account. */
  pause(): void {
    isSignedIn = false;
  },

  stop(): void {
    isSignedIn = false;
    void loading?.then((loaded) => loaded.stop());
    context = undefined;
    loading = undefined;
    dock.value = undefined;
  },

  /** False when no window could be opened; that is said. */
  async open(opening: Opening): Promise<boolean> {
    try {
      const opened = await windows();
      await opened?.show(opening);
      return opened !== undefined;
    } catch (error) {
      undo.say(reasonOf(error));
      return false;
    }
  },
};

export function ComposeHost() {
  const Dock = dock.value;
  return Dock === undefined ? null : <Dock />;
}

function windows(): Promise<Windows> | undefined {
  const of = context;
  if (of === undefined) return undefined;
  loading ??= import('./views/compose-dock.js')
    .then(({ startDock }) =>
      startDock(of, (Dock) => {
        dock.value = Dock;
      }),
    )
    .catch((error: unknown) => {
      // The next try loads it again.
      loading = undefined;
      throw error;
    });
  return loading;
}

/** Whether the journal has windows (journal.ts). */
function hasKept(account: string): boolean {
  return Object.keys(localStorage).some((key) => key.startsWith(`mansio.compose.${account}.`));
}
