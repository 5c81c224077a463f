// What the journal keeps of a compose window.
import type { ComposeWindow } from './compose-window.js';
import { type DraftState, isUnsaved } from './draft-state.js';
import type { KeptWindow } from './journal.js';
import type { SentVersion } from './stored-version.js';

/** The longest that the preference `undoSendSeconds` allows. */
const LONGEST_UNDO_MS = 60_000;

const isSoon = (sendAt: string | null): boolean => {
  const left = sendAt === null ? 0 : Date.parse(sendAt) - Date.now();
  return left > 0 && left <= LONGEST_UNDO_MS;
};

/** Undefined when nothing is to be found again: nothing was written, or it was sent for good. */
export function keptOf(
  window: ComposeWindow,
  state: DraftState,
  tabId: string,
  unheard: readonly SentVersion[],
): KeptWindow | undefined {
  const { phase, draftId, etag, sent, wish } = state;
  const { id, original, isMinimised, blobs, files } = window;
  const isOver = phase === 'sent' && !isSoon(sent?.sendAt ?? null);
  if (phase === 'clean' || isOver) return undefined;
  const isUnsafe = isUnsaved(state) || window.hasOwn() || phase === 'sent';
  return {
    windowId: id,
    tabId,
    draftId,
    etag,
    isMinimised: isMinimised.value,
    original,
    unsaved: isUnsafe ? window.fields() : null,
    files: files.value.filter(({ stored }) => stored !== null),
    wish,
    lostFiles: files.value.filter(({ key }) => blobs.has(key)).map(({ fileName }) => fileName),
    sent,
    discardAt: null,
    unheard,
  };
}
