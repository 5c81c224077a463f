// The states of a draft on its way from the page to the server, as a pure reducer. Revisions count changes of the content: what is saved is
// a revision, so a change during a save is never taken for saved. `nextStep` says what is to be done, one step at a time, so saves never
// overlap, and a send waits for the save of everything before it.

/**
 * - `clean`: nothing was written yet; `saved`: the server has the newest revision
 * - `dirty`: a save is due; `saving`: a save is under way
 * - `conflict`: another window has changed the draft; `gone`: it was sent or deleted elsewhere
 * - `offline`: no answer came, the save is tried again; `failed`: the server refused, a change is needed
 * - `sending`, `sent`
 */
type DraftPhase =
  | 'clean'
  | 'dirty'
  | 'saving'
  | 'saved'
  | 'conflict'
  | 'gone'
  | 'offline'
  | 'failed'
  | 'sending'
  | 'sent';

/** What is wished for beyond saving. `sendAt`: ISO 8601, null for at once. */
interface SendWish {
  readonly sendAt: string | null;
}

export interface DraftState {
  readonly phase: DraftPhase;
  /** Null before the first save. */
  readonly draftId: string | null;
  readonly etag: string | null;
  readonly revision: number;
  readonly savedRevision: number;
  /** The revision that is being saved. */
  readonly savingRevision: number | null;
  /** Set from the click on Send until the server has answered. */
  readonly wish: SendWish | null;
  /** How many saves in a row had no answer. */
  readonly failures: number;
  /** Tells why a save or the send was refused. */
  readonly problem: string | null;
  /** Set once the server has it: the time until which it can be undone. */
  readonly sent: { readonly outboundId: string; readonly sendAt: string | null } | null;
}

export type DraftEvent =
  | { readonly type: 'changed' }
  | { readonly type: 'saveBegan' }
  | { readonly type: 'saved'; readonly draftId: string; readonly etag: string | null }
  /** The server has what an earlier save has sent, whose answer was not heard. */
  | { readonly type: 'found'; readonly draftId: string; readonly etag: string }
  | { readonly type: 'unreachable' }
  | { readonly type: 'retried' }
  | { readonly type: 'refused'; readonly problem: string }
  | { readonly type: 'conflicted' }
  | { readonly type: 'vanished' }
  /** The conflict is decided: what stands in the window is to be saved over the version with this tag, or, with null, as a new draft. */
  | { readonly type: 'keptMine'; readonly etag: string | null }
  /** What stands in the window now is the server's version. */
  | { readonly type: 'tookTheirs'; readonly draftId: string; readonly etag: string | null }
  | { readonly type: 'sendWished'; readonly wish: SendWish }
  /** The reader does not want to send what waits for the network. */
  | { readonly type: 'sendWithdrawn' }
  | { readonly type: 'sendBegan' }
  | { readonly type: 'sendRefused'; readonly problem: string }
  | { readonly type: 'sent'; readonly outboundId: string; readonly sendAt: string | null }
  | { readonly type: 'undone'; readonly draftId: string; readonly etag: string | null };

export function newDraftState(draftId: string | null = null, etag: string | null = null): DraftState {
  return {
    phase: draftId === null ? 'clean' : 'saved',
    draftId,
    etag,
    revision: 0,
    savedRevision: 0,
    savingRevision: null,
    wish: null,
    failures: 0,
    problem: null,
    sent: null,
  };
}

export function draftAfter(state: DraftState, event: DraftEvent): DraftState {
  switch (event.type) {
    case 'changed':
      return changed(state);
    case 'saveBegan':
      return { ...state, phase: 'saving', savingRevision: state.revision, problem: null };
    case 'saved':
      return saved(state, event.draftId, event.etag);
    case 'found':
      return { ...state, phase: 'dirty', draftId: event.draftId, etag: event.etag, savingRevision: null };
    case 'unreachable':
      return { ...state, phase: 'offline', savingRevision: null, failures: state.failures + 1 };
    case 'retried':
      return state.phase === 'offline' ? { ...state, phase: 'dirty' } : state;
    case 'refused':
    case 'sendRefused':
      return { ...state, phase: 'failed', savingRevision: null, wish: null, problem: event.problem };
    case 'conflicted':
      return { ...state, phase: 'conflict', savingRevision: null, wish: null };
    case 'vanished':
      return { ...state, phase: 'gone', savingRevision: null, wish: null };
    case 'keptMine': {
      const draftId = event.etag === null ? null : state.draftId;
      return { ...state, phase: 'dirty', draftId, etag: event.etag, revision: state.revision + 1, failures: 0 };
    }
    case 'tookTheirs':
    case 'undone':
      return { ...newDraftState(event.draftId, event.etag), revision: state.revision, savedRevision: state.revision };
    case 'sendWished':
      return wished(state, event.wish);
    case 'sendWithdrawn':
      return state.phase === 'offline' ? { ...state, wish: null } : state;
    case 'sendBegan':
      return { ...state, phase: 'sending' };
    case 'sent': {
      const { outboundId, sendAt } = event;
      return { ...state, phase: 'sent', wish: null, problem: null, sent: { outboundId, sendAt } };
    }
  }
}

/** What the window does next. `wait`: something is under way, or a decision or a change is needed. */
export type DraftStep = 'save' | 'send' | 'wait' | 'rest';

export function nextStep({ phase, wish, revision, savedRevision }: DraftState): DraftStep {
  if (phase === 'dirty') return 'save';
  if (phase === 'saved' && wish !== null && revision === savedRevision) return 'send';
  return phase === 'clean' || phase === 'saved' || phase === 'sent' ? 'rest' : 'wait';
}

/** True when closing the window now could lose something that only this page has. */
export const isUnsaved = ({ phase, revision, savedRevision }: DraftState): boolean =>
  phase !== 'sent' && revision !== savedRevision;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** When a save that had no answer is tried again. */
export const retryDelay = ({ failures }: DraftState): number =>
  Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.max(0, failures - 1));

/** A change that is followed by others is saved after a pause of this length, and no later than `LONGEST_DELAY_MS` after the first. */
const PAUSE_MS = 400;
const LONGEST_DELAY_MS = 900;

/** How long after a change the save begins; `waited`: how long the first unsaved change has waited. */
export const saveDelay = (waited: number): number => Math.max(0, Math.min(PAUSE_MS, LONGEST_DELAY_MS - waited));

function changed(state: DraftState): DraftState {
  const revision = state.revision + 1;
  const { phase } = state;
  // A save under way, a decision that is due and a retry that is timed go on; whatever they save next is the newest revision.
  const stays = phase === 'saving' || phase === 'conflict' || phase === 'gone' || phase === 'offline';
  if (phase === 'sending' || phase === 'sent') return state;
  return { ...state, revision, phase: stays ? phase : 'dirty', problem: phase === 'failed' ? null : state.problem };
}

function saved(state: DraftState, draftId: string, etag: string | null): DraftState {
  const savedRevision = state.savingRevision ?? state.revision;
  const phase = savedRevision === state.revision ? 'saved' : 'dirty';
  return { ...state, phase, draftId, etag, savedRevision, savingRevision: null, failures: 0, problem: null };
}

function wished(state: DraftState, wish: SendWish): DraftState {
  const { phase } = state;
  if (phase === 'conflict' || phase === 'gone' || phase === 'sending' || phase === 'sent') return state;
  const isDue = phase === 'clean' || phase === 'failed' || phase === 'offline';
  return { ...state, wish, problem: null, phase: isDue ? 'dirty' : phase };
}
