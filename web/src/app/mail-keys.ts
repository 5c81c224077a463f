// The keys of lists and emails: Gmail's.
import { useEffect } from 'preact/hooks';
import type { PlainKey } from '../i18n/t.js';
import { pickForTargets } from '../list/picker.js';
import { focusRow } from '../list/row.js';
import { sayFailed } from './failure.js';
import { bindKeys, type Shortcut } from './keyboard.js';
import { archive, junk, setRead, toggleFlag, trash, withTargets } from './mail-actions.js';
import { type Place, withEmail } from './route.js';
import { go } from './router.js';
import type { Store } from './store.js';
import { openListed } from './writing.js';

const PLACES: readonly [keys: string, place: Place, text: PlainKey][] = [
  ['g i', 'inbox', 'keys.goInbox'],
  ['g s', 'flagged', 'keys.goFlagged'],
  ['g t', 'sent', 'keys.goSent'],
  ['g d', 'drafts', 'keys.goDrafts'],
  ['g a', 'archive', 'keys.goArchive'],
];

/** `isList`: the other keys are for what is in a list. */
export function useMailKeys(store: Store, isList: boolean): void {
  useEffect(() => bindKeys('go', places()), []);
  useEffect(() => (isList ? bindKeys('list', moving(store)) : undefined), [store, isList]);
  useEffect(() => (isList ? bindKeys('act', acting(store)) : undefined), [store, isList]);
}

function places(): Shortcut[] {
  return [
    ...PLACES.map(([keys, place, text]) => ({ keys, text, run: () => go({ view: 'place', place }) })),
    { keys: 'g ,', text: 'settings.open', run: () => go({ view: 'settings', section: '' }) },
  ];
}

function moving(store: Store): Shortcut[] {
  const { list } = store;
  const open = () => {
    const id = list.cursorId.peek();
    if (id === undefined) return false;
    openListed(store, id);
    return true;
  };
  const back = () => {
    if (list.selected.peek().size > 0) list.clearSelection();
    else if (store.openId.peek() !== undefined) go(withEmail(list.route.peek(), undefined));
    else return false;
    return true;
  };
  const toggle = () => {
    const id = list.cursorId.peek();
    if (id !== undefined) list.toggle(id).catch(sayFailed);
  };
  return [
    { keys: 'j', text: 'keys.next', run: () => step(store, 1) },
    { keys: 'k', text: 'keys.previous', run: () => step(store, -1) },
    { keys: 'ArrowDown', text: 'keys.next', run: (event) => isForList(store, event) && step(store, 1) },
    { keys: 'ArrowUp', text: 'keys.previous', run: (event) => isForList(store, event) && step(store, -1) },
    { keys: 'Shift+ArrowDown', text: 'keys.extend', run: (event) => extend(store, event, 1) },
    { keys: 'Shift+ArrowUp', text: 'keys.extend', run: (event) => extend(store, event, -1) },
    { keys: 'Enter', text: 'keys.open', run: (event) => isOnRow(event) && open() },
    { keys: 'o', text: 'keys.open', run: open },
    { keys: 'u', text: 'keys.backToList', run: back },
    { keys: 'Escape', text: 'keys.backToList', run: back },
    { keys: 'x', text: 'keys.select', run: toggle },
    { keys: '*', text: 'keys.selectAll', run: () => void list.selectLoaded().catch(sayFailed) },
    {
      keys: '/',
      text: 'keys.search',
      run: () => document.querySelector<HTMLElement>('#search')?.focus(),
    },
  ];
}

function acting(store: Store): Shortcut[] {
  const act = (run: (store: Store, ids: readonly string[]) => void) => () =>
    withTargets(store, (ids) => run(store, ids));
  return [
    { keys: 'e', text: 'act.archive', run: act(archive) },
    { keys: '#', text: 'act.trash', run: act(trash) },
    { keys: '!', text: 'act.junk', run: act(junk) },
    { keys: 's', text: 'act.flag', run: act(toggleFlag) },
    { keys: 'I', text: 'act.read', run: act((of, ids) => setRead(of, true, ids)) },
    { keys: 'U', text: 'act.unread', run: act((of, ids) => setRead(of, false, ids)) },
    { keys: 'l', text: 'act.label', run: () => pickForTargets(store, 'label') },
    { keys: 'v', text: 'act.move', run: () => pickForTargets(store, 'move') },
  ];
}

/** Arrows scroll an open email, unless the list has the focus. */
function isForList({ openId }: Store, { target }: KeyboardEvent): boolean {
  if (target === document.body) return openId.peek() === undefined;
  return target instanceof Element && target.closest('.list') !== null;
}

/** Selects one row more or less. With text that is selected, the keys are for the text. */
function extend({ list }: Store, { target }: KeyboardEvent, by: 1 | -1): boolean {
  const isInList = target instanceof Element && target.closest('.list') !== null;
  if (!isInList && getSelection()?.isCollapsed === false) return false;
  // The row that the keys go to gets the focus, which makes a screen reader say that it is selected.
  if (!isInList) document.querySelector<HTMLElement>('.list-scroll')?.focus({ preventScroll: true });
  list.extend(by).catch(sayFailed);
  return true;
}

/** Goes to the next or the previous row; an open email is followed by that row's. */
function step({ list, openId }: Store, by: 1 | -1): boolean {
  const { start, total } = list.view.peek();
  const at = list.indexOf(list.cursorId.peek());
  const index = at === undefined ? start : at + by;
  const id = list.at(Math.max(0, Math.min(total - 1, index)))?.id;
  if (id === undefined) return true;
  leaveFolders();
  list.cursorId.value = id;
  focusRow();
  if (openId.peek() !== undefined) go(withEmail(list.route.peek(), id), { replace: true });
  return true;
}

/** The next Enter is for the row, not for the folder that was chosen last. */
function leaveFolders(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement.closest('nav') !== null) activeElement.blur();
}

/** Enter means something else on buttons and links. */
function isOnRow({ target }: KeyboardEvent): boolean {
  return !(target instanceof Element && target.closest('button, a, summary, iframe') !== null);
}
