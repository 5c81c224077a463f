// The offer to undo the last action: one strip, for ten seconds or until the next action (undo-strip.tsx shows it, `z` takes it). It survives
// a reload of the page when the action says what takes it back in words that can be kept.
import { signal } from '@preact/signals';
import type { Observable } from 'rxjs';

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
  /** How far an action on many emails is. */
  readonly progress?: { readonly done: number; readonly total: number };
}

/** An action on many emails while it is carried out. */
export interface Run {
  readonly total: number;
  readonly progress$: Observable<number>;
  readonly done: Promise<void>;
}

interface Kept {
  readonly text: string;
  readonly until: number;
  readonly inverses: readonly Inverse[];
}

const OFFER_MS = 10_000;
/** An action that has not ended can be taken back after a reload for so long. */
const RUN_MS = 600_000;
const KEPT = 'mansio.undo';

/** Whether an action is being taken back, or that is being said. */
export const takingBack = { is: false };
export const strip = signal<Strip | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

export const undo = {
  offer({ text, undo, inverses, ms = OFFER_MS }: UndoOffer): void {
    show({ text, undo }, ms);
    keep(text, ms, inverses);
  },

  /** Says how far the action is; the offer stands for ten seconds from its end on. Without `undo` it only says that it has ended. */
  during(
    { text, undo: takeBack, inverses }: Pick<UndoOffer, 'text' | 'inverses'> & Partial<UndoOffer>,
    { total, progress$, done }: Run,
  ): void {
    const at = (count: number): Strip => ({
      text,
      progress: { done: count, total },
      ...(takeBack && { undo: takeBack }),
    });
    let shown = at(0);
    show(shown, RUN_MS);
    keep(text, RUN_MS, inverses);
    const isShown = () => strip.peek() === shown;
    progress$.subscribe((count) => {
      if (!isShown()) return;
      shown = at(count);
      strip.value = shown;
    });
    const ended = () => {
      if (!isShown()) return;
      if (takeBack === undefined) undo.say(text);
      else undo.offer({ text, undo: takeBack, ...(inverses && { inverses }) });
    };
    // Who has asked for the action says that it was refused.
    done.then(ended, () => isShown() && undo.dismiss());
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

function keep(text: string, ms: number, inverses: readonly Inverse[] | undefined): void {
  if (inverses === undefined) return;
  const kept: Kept = { text, until: Date.now() + ms, inverses };
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // There is no room for so many emails, and the offer ends with the page.
  }
}

function show(shown: Strip, ms: number): void {
  clearTimeout(timer);
  sessionStorage.removeItem(KEPT);
  strip.value = shown;
  timer = setTimeout(undo.dismiss, ms);
}
