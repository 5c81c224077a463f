// The offer to undo the last action: one strip, for ten seconds or until the next action (undo-strip.tsx shows it, `z` takes it). It survives
// a reload of the page when the action says what takes it back in words that can be kept.
import { signal } from '@preact/signals';

/** What takes an action back: the same in a page that was loaded again. */
export type Inverse =
  | { readonly act: 'move'; readonly ids: readonly string[]; readonly to: string }
  | { readonly act: 'markRead'; readonly ids: readonly string[]; readonly isRead: boolean }
  | { readonly act: 'flag'; readonly ids: readonly string[]; readonly isFlagged: boolean }
  | { readonly act: 'label' | 'unlabel'; readonly ids: readonly string[]; readonly labelId: string };

export interface UndoOffer {
  /** What has been done, such as “Moved to Archive”. */
  readonly text: string;
  undo(): Promise<unknown>;
  /** Without these the offer ends with the page. */
  readonly inverses?: readonly Inverse[];
  /** How long the offer stands; ten seconds without it. */
  readonly ms?: number;
}

export interface Strip {
  readonly text: string;
  /** Without it the strip only says something. */
  readonly undo?: () => Promise<unknown>;
}

interface Kept {
  readonly text: string;
  readonly until: number;
  readonly inverses: readonly Inverse[];
}

const OFFER_MS = 10_000;
const KEPT = 'mansio.undo';

export const strip = signal<Strip | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

export const undo = {
  offer({ text, undo, inverses, ms = OFFER_MS }: UndoOffer): void {
    show({ text, undo }, ms);
    if (inverses === undefined) return;
    const kept: Kept = { text, until: Date.now() + ms, inverses };
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  },

  /** Says what has happened or failed, with nothing to undo. */
  say(text: string, ms = OFFER_MS): void {
    show({ text }, ms);
  },

  dismiss(): void {
    clearTimeout(timer);
    sessionStorage.removeItem(KEPT);
    strip.value = undefined;
  },

  /** Shows the offer of the page before it was loaded again, while it stands. */
  resume(takeBack: (inverses: readonly Inverse[]) => Promise<unknown>): void {
    const text = sessionStorage.getItem(KEPT);
    if (text === null) return;
    const kept = JSON.parse(text) as Kept;
    const left = kept.until - Date.now();
    show({ text: kept.text, undo: () => takeBack(kept.inverses) }, Math.max(0, left));
    // The page may be loaded once more.
    if (left > 0) sessionStorage.setItem(KEPT, text);
  },
};

function show(shown: Strip, ms: number): void {
  clearTimeout(timer);
  sessionStorage.removeItem(KEPT);
  strip.value = shown;
  timer = setTimeout(undo.dismiss, ms);
}
