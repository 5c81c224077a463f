// The offer to undo the last action: one strip, for ten seconds or until the next action (undo-strip.tsx shows it, `z` takes it).
import { signal } from '@preact/signals';

export interface UndoOffer {
  /** What has been done, such as “Moved to Archive”. */
  readonly text: string;
  undo(): Promise<unknown>;
  /** How long the offer stands; ten seconds without it. */
  readonly ms?: number;
}

export interface Strip {
  readonly text: string;
  /** Without it the strip only says something. */
  readonly undo?: () => Promise<unknown>;
}

const OFFER_MS = 10_000;

export const strip = signal<Strip | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

export const undo = {
  offer({ text, undo, ms = OFFER_MS }: UndoOffer): void {
    show({ text, undo }, ms);
  },

  /** Says what has happened or failed, with nothing to undo. */
  say(text: string, ms = OFFER_MS): void {
    show({ text }, ms);
  },

  dismiss(): void {
    clearTimeout(timer);
    strip.value = undefined;
  },
};

function show(shown: Strip, ms: number): void {
  clearTimeout(timer);
  strip.value = shown;
  timer = setTimeout(undo.dismiss, ms);
}
