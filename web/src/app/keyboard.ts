// The keys of the page. Each view binds its own while it is shown; what was bound last has precedence. The sheet (`?`) lists what is bound.
import { signal } from '@preact/signals';
import type { PlainKey } from '../i18n/t.js';
import { typedKey } from './keys/typed-key.js';

/** The parts of the sheet, in its order. */
export const KEY_GROUPS = ['list', 'act', 'write', 'go', 'page'] as const;
export type KeyGroup = (typeof KEY_GROUPS)[number];

export interface Shortcut {
  /** As typed-key.ts has it, such as `c`, `#` or `Enter`, or `Shift+ArrowDown`; `g i` is two keys, one after the other. */
  readonly keys: string;
  /** What the sheet says of it; without a text it is not listed. */
  readonly text?: PlainKey;
  /** Returns false to leave the event to the browser. */
  run(event: KeyboardEvent): unknown;
}

const SEQUENCE_MS = 1500;
/** How long what has opened may take to get the focus: on a slow machine its editor is still loaded. */
const FOCUS_MS = 10_000;
/** An iPad calls itself a Mac. */
const IS_APPLE = /^(?:Mac|iP)/.test(navigator.platform);

interface Bound extends Shortcut {
  readonly group: KeyGroup;
}

export const bound = signal<readonly Bound[]>([]);
/** The opening that the keys wait for. */
let held: Promise<unknown> | undefined;
let pending: { readonly key: string; readonly until: number } | undefined;

/** Returns what unbinds them. `group`: where the sheet lists them. */
export function bindKeys(group: KeyGroup, shortcuts: readonly Shortcut[]): () => void {
  const added = shortcuts.map((shortcut) => ({ ...shortcut, group }));
  bound.value = [...bound.peek(), ...added];
  return () => {
    bound.value = bound.peek().filter((one) => !added.includes(one));
  };
}

export function startKeyboard(): () => void {
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

/**
 * The keys of the page have no effect until a field of what opens has the focus, or the reader points elsewhere: what is typed meanwhile is
 * text, and no action. `opened`: false when nothing has opened.
 */
export function holdKeys(opened: Promise<boolean>): void {
  held = opened;
  const release = () => {
    document.removeEventListener('focusin', onFocus);
    document.removeEventListener('pointerdown', release);
    if (held === opened) held = undefined;
  };
  const onFocus = ({ target }: FocusEvent) => {
    if (isField(target)) release();
  };
  document.addEventListener('focusin', onFocus);
  document.addEventListener('pointerdown', release);
  void opened.then((isOpen) => setTimeout(release, isOpen ? FOCUS_MS : 0));
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  if (held !== undefined || isField(event.target) || document.querySelector('dialog:modal') !== null) return;
  const key = typedKey(event, IS_APPLE);
  if (key === undefined) return;
  const before = pending !== undefined && pending.until > event.timeStamp ? `${pending.key} ` : '';
  pending = undefined;
  const all = bound.peek();
  const names = [...(before === '' ? [] : [before + key]), ...(event.shiftKey ? [`Shift+${key}`] : []), key];
  const shortcut = names.map((name) => all.findLast(({ keys }) => keys === name)).find((one) => one !== undefined);
  if (shortcut !== undefined) {
    if (shortcut.run(event) !== false) event.preventDefault();
  } else if (all.some(({ keys }) => keys.startsWith(`${key} `))) {
    pending = { key, until: event.timeStamp + SEQUENCE_MS };
  }
}

/** Where keys write text, or have a meaning of their own. */
function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'submit'].includes(target.type);
}

/** As keyboards name them. A capital alone looks like another letter: I and l. */
const NAMES: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  Enter: '↵',
  ArrowDown: '↓',
  ArrowUp: '↑',
  'Shift+ArrowDown': '⇧ ↓',
  'Shift+ArrowUp': '⇧ ↑',
};
export const shownKeys = (keys: string): string =>
  NAMES[keys] ?? (/^[A-Z]$/.test(keys) ? `⇧ ${keys.toLowerCase()}` : keys);
