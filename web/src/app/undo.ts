// The offer to undo the last action: one strip, for ten seconds or until the next action (undo-strip.tsx shows it, `z` takes it). It survives
// a reload of the page when the action says what takes it back in words that can be kept.
import { signal } from '@preact/signals';
import type { Observable } from 'rxjs';
import type { ChangedFolder, LabelInput, UndoStep } from '../../../src/client/index.js';
import { t } from '../i18n/t.js';

/** What takes an action back in a page that was loaded again, as JSON. */
export type KeptUndo =
  /** An action on emails. The client has it by its key while the server has not answered; `steps` are there when all emails are known. */
  | { readonly key: string; readonly steps?: readonly UndoStep[] | undefined }
  /** A change of labels and folders: what they were. */
  | { readonly puts: readonly Put[] };

export type Put =
  | { readonly path: '/api/labels/{id}'; readonly id: string; readonly body: LabelInput }
  | { readonly path: '/api/folders/{id}'; readonly id: string; readonly body: ChangedFolder };

export interface UndoOffer {
  /** What has been done, such as “Moved to Archive”. */
  readonly text: string;
  undo(): Promise<unknown>;
  /** Without it the offer ends with the page. */
  readonly kept?: () => KeptUndo;
  /** How long the offer stands; ten seconds without it. */
  readonly ms?: number;
}

export interface Strip {
  readonly text: string;
  /** Without it the strip only says something. */
  readonly undo?: () => Promise<unknown>;
  /** How far an action on many emails is. */
  readonly progress?: { readonly done: number; readonly total: number };
  /** Ends it where it is. */
  readonly stop?: () => void;
}

/** An action on many emails while it is carried out. */
export interface Run {
  readonly total: number;
  readonly progress$: Observable<number>;
  readonly done: Promise<void>;
  stop(): void;
}

interface Kept {
  readonly text: string;
  readonly until: number;
  readonly undo: KeptUndo;
}

const OFFER_MS = 10_000;
/** An action that has not ended can be taken back after a reload for so long. */
const RUN_MS = 600_000;
const KEPT = 'mansio.undo';

/** Whether an action is being taken back, or that is being said. */
export const takingBack = { is: false };
export const strip = signal<Strip | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;
/** What is shown offers to undo this, until then (ms since the epoch). */
let offered: { readonly kept: () => KeptUndo; readonly text: string; readonly until: number } | undefined;

export const undo = {
  offer({ text, undo, kept, ms = OFFER_MS }: UndoOffer): void {
    show({ text, undo }, ms);
    keep(text, Date.now() + ms, kept);
  },

  /** What takes the action back may be known only now: it is kept where the offer that stands is for it. */
  keepAgain(key: string, kept: () => KeptUndo): void {
    const before = offered?.kept();
    if (offered !== undefined && before !== undefined && 'key' in before && before.key === key)
      keep(offered.text, offered.until, kept);
  },

  /**
   * Says how far the action is, and can stop it; the offer stands for ten seconds from its end on. Without `undo` it only says that it has
   * ended.
   */
  during({ text, undo: takeBack, kept }: Pick<UndoOffer, 'text'> & Partial<UndoOffer>, run: Run): void {
    const { total, progress$, done } = run;
    let handled = 0;
    const stop = () => run.stop();
    const at = (): Strip => ({ text, progress: { done: handled, total }, stop, ...(takeBack && { undo: takeBack }) });
    let shown = at();
    show(shown, RUN_MS);
    keep(text, Date.now() + RUN_MS, kept);
    const isShown = () => strip.peek() === shown;
    progress$.subscribe((count) => {
      handled = count;
      if (!isShown()) return;
      shown = at();
      strip.value = shown;
    });
    const ended = () => {
      if (!isShown()) return;
      const said = handled < total ? t('undo.stopped', { done: handled, total }) : text;
      if (takeBack === undefined) undo.say(said);
      else undo.offer({ text: said, undo: takeBack, ...(kept && { kept }) });
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
    offered = undefined;
    sessionStorage.removeItem(KEPT);
    strip.value = undefined;
  },

  /** Shows the offer of the page before it was loaded again, while it stands. */
  resume(takeBack: (kept: KeptUndo) => Promise<unknown>): KeptUndo | undefined {
    const json = sessionStorage.getItem(KEPT);
    if (json === null) return undefined;
    const { text, until, undo: kept } = JSON.parse(json) as Kept;
    const left = until - Date.now();
    show({ text, undo: () => takeBack(kept) }, Math.max(0, left));
    if (left <= 0) return undefined;
    // The page may be loaded once more.
    keep(text, until, () => kept);
    return kept;
  },
};

function keep(text: string, until: number, take: (() => KeptUndo) | undefined): void {
  if (take === undefined) return;
  offered = { kept: take, text, until };
  const kept: Kept = { text, until, undo: take() };
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // There is no room for so many emails, and the offer ends with the page.
  }
}

function show(shown: Strip, ms: number): void {
  clearTimeout(timer);
  offered = undefined;
  sessionStorage.removeItem(KEPT);
  strip.value = shown;
  timer = setTimeout(undo.dismiss, ms);
}
