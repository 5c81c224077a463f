// Rows are swiped with a finger: towards the end of the line they are archived, towards its beginning they go to Trash.
import { archive, trash, withRows } from '../app/mail-actions.js';
import type { Store } from '../app/store.js';
import { direction } from '../i18n/t.js';
import { rowOf } from './row.js';

/** A finger that moves less is not sure of it. */
const LEAST_PX = 96;
/** The direction is decided after this. */
const SURE_PX = 12;

interface Swipe {
  readonly row: HTMLElement;
  readonly id: string;
  readonly x: number;
  readonly y: number;
  isSideways: boolean;
  by: number;
}

let swipe: Swipe | undefined;

export function startSwipe(event: TouchEvent): void {
  const row = rowOf(event);
  const [touch, second] = event.touches;
  const id = row?.dataset['id'];
  cancelSwipe();
  if (row === null || id === undefined || touch === undefined || second !== undefined) return;
  swipe = { row, id, x: touch.clientX, y: touch.clientY, isSideways: false, by: 0 };
}

export function moveSwipe(event: TouchEvent): void {
  const [touch] = event.touches;
  if (swipe === undefined || touch === undefined) return;
  swipe.by = touch.clientX - swipe.x;
  const down = Math.abs(touch.clientY - swipe.y);
  if (!swipe.isSideways && down > SURE_PX) swipe = undefined;
  else if (Math.abs(swipe.by) > SURE_PX) swipe.isSideways = true;
  if (!swipe?.isSideways) return;
  event.preventDefault();
  swipe.row.style.translate = `${swipe.by}px`;
  swipe.row.classList.toggle('is-swiped', Math.abs(swipe.by) >= LEAST_PX);
}

export function endSwipe(store: Store): void {
  const ended = swipe;
  cancelSwipe();
  if (ended === undefined || !ended.isSideways || Math.abs(ended.by) < LEAST_PX) return;
  const isToEnd = ended.by > 0 === (direction() === 'ltr');
  withRows(store, [ended.id], (ids) => (isToEnd ? archive(store, ids) : trash(store, ids)));
}

export function cancelSwipe(): void {
  if (swipe !== undefined) {
    swipe.row.style.translate = '';
    swipe.row.classList.remove('is-swiped');
  }
  swipe = undefined;
}
