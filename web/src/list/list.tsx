// The rows of the list. Only those near what is seen are drawn. When mail arrives or leaves, the row under the eye or the pointer stays where
// it is; what has come above is counted (list-pane.tsx shows it).
import './list.css';
import { type ReadonlySignal, type Signal, useComputed, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { sayFailed } from '../app/failure.js';
import { type Store, useStore } from '../app/store.js';
import { takingBack } from '../app/undo.js';
import { openListed } from '../app/writing.js';
import { t } from '../i18n/t.js';
import { type GroupHeader, groupHeaders } from './date-groups.js';
import { endDrag, startDrag } from './drag.js';
import { type Anchor, anchorsAt, heldAt, ListGeometry } from './geometry.js';
import { emailsOf } from './list-store.js';
import { Row, rowOf, WaitingRow } from './row.js';
import { cancelSwipe, endSwipe, moveSwipe, startSwipe } from './swipe.js';

const ROW_PX = { comfortable: 77, compact: 44, spacious: 92 } as const;
const HEADER_PX = 36;
const OVERSCAN = 6;
const FIRST_ROWS = 8;

/** What is seen of the list. */
interface Seen {
  readonly top: number;
  readonly height: number;
}

interface Shown {
  readonly geometry: ListGeometry;
  readonly headers: readonly GroupHeader[];
}

export function List() {
  const store = useStore();
  const { list } = store;
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useSignal<Seen>({ top: 0, height: 900 });
  const shown = useShown(store);
  /** The row whose picture the pointer has pressed: it gets the focus, which may move it under the pointer. */
  const pressed = useRef<string | undefined>(undefined);
  useHeldRows(store, scroller, seen, shown);
  const { geometry, headers } = shown.value;
  const { start, end } = geometry.between(seen.value.top, seen.value.top + seen.value.height);
  useLayoutEffect(() => list.see(start, end), [list, start, end]);
  const onScroll = () => {
    measure(scroller.current!, seen);
    if (seen.peek().top === 0) list.arrived.value = 0;
  };
  const density = store.preferences.value?.displayDensity ?? 'comfortable';
  return (
    <div class="list-place">
      <div class="list-scroll" ref={scroller} onScroll={onScroll} tabIndex={-1}>
        <div
          role="listbox"
          class={`list is-${density}`}
          aria-label={t('list.title')}
          aria-multiselectable
          aria-busy={geometry.total === 0}
          style={{ height: `${geometry.height}px` }}
          onMouseDown={(event) => {
            pressed.current = isSelectPart(event) ? rowOf(event)?.dataset['id'] : undefined;
            // The row that the range begins at keeps the focus, and no text is selected.
            if (event.shiftKey) event.preventDefault();
          }}
          onClick={(event) => clicked(store, event, pressed.current)}
          onDragStart={(event) => startDrag(store, event)}
          onDragEnd={endDrag}
          onTouchStart={startSwipe}
          onTouchMove={moveSwipe}
          onTouchEnd={() => endSwipe(store)}
          onTouchCancel={cancelSwipe}
          onFocusIn={(event) => {
            const id = rowOf(event)?.dataset['id'];
            if (id !== undefined) list.cursorId.value = id;
          }}
        >
          {headers.map(({ index, text }) => (
            <div
              key={text}
              role="presentation"
              class="list-group"
              style={{ transform: `translateY(${geometry.top(index) - HEADER_PX}px)` }}
            >
              {text}
            </div>
          ))}
          <Rows store={store} geometry={geometry} from={start - OVERSCAN} to={end + OVERSCAN} />
        </div>
      </div>
    </div>
  );
}

interface RowsProps {
  readonly store: Store;
  readonly geometry: ListGeometry;
  readonly from: number;
  readonly to: number;
}

function Rows({ store, geometry, from, to }: RowsProps) {
  const { list, openId, preferences, now } = store;
  if (geometry.total === 0 && list.view.value.isLoading) return <FirstRows geometry={geometry} />;
  const route = list.route.value;
  const role = store.folderOf(route)?.role;
  const cursor = list.indexOf(list.cursorId.value);
  const first = Math.max(0, from);
  const last = Math.min(geometry.total, to);
  // One row can always take the focus, also when it is not seen.
  const tabStop = cursor ?? list.view.value.start;
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  if (geometry.total > 0 && (tabStop < first || tabStop >= last)) indexes.push(tabStop);
  return indexes.map((index) => {
    const item = list.at(index);
    if (item === undefined) return <WaitingRow key={`at ${index}`} top={geometry.top(index)} />;
    return (
      <Row
        key={emailsOf(item).at(-1)}
        item={item}
        index={index}
        total={geometry.total}
        top={geometry.top(index)}
        now={now.value}
        isOpen={openId.value !== undefined && emailsOf(item).includes(openId.value)}
        isCursor={index === tabStop}
        isSelected={list.isSelected(item)}
        showsRecipients={role === 'sent' || role === 'drafts'}
        isDraft={role === 'drafts'}
        showsPreview={preferences.value?.showPreview !== false}
        hiddenLabelId={route.view === 'label' ? route.id : undefined}
      />
    );
  });
}

/** What is seen of a list of which nothing is known yet. */
function FirstRows({ geometry }: { readonly geometry: ListGeometry }) {
  return Array.from({ length: FIRST_ROWS }, (_, index) => <WaitingRow key={index} top={geometry.top(index)} />);
}

function useShown(store: Store): ReadonlySignal<Shown> {
  return useComputed(() => {
    const { list, preferences, now } = store;
    const view = list.view.value;
    const { displayDensity = 'comfortable', groupByDate = false } = preferences.value ?? {};
    const isByDate = list.sort.value === '-date' || list.sort.value === 'date';
    const headers = groupByDate && isByDate ? groupHeaders(view, now.value) : [];
    const sizes = { row: ROW_PX[displayDensity], header: HEADER_PX };
    return {
      headers,
      geometry: new ListGeometry(
        view.total,
        sizes,
        headers.map(({ index }) => index),
      ),
    };
  });
}

/** Keeps the rows that are seen where they are, and counts how many have come above them. */
function useHeldRows(
  { list }: Store,
  scroller: RefObject<HTMLDivElement | null>,
  seen: Signal<Seen>,
  shown: ReadonlySignal<Shown>,
): void {
  const { arrived } = list;
  const held = useRef<{ key: string; anchors: Anchor[]; total: number }>({
    key: '',
    anchors: [],
    total: 0,
  });
  const view = list.view.value;
  const { geometry } = shown.value;
  const key = list.key.value;
  useLayoutEffect(() => {
    const element = scroller.current!;
    const before = held.current;
    const drawn = { start: view.start, items: view.items, geometry };
    if (key !== before.key) {
      element.scrollTop = 0;
      arrived.value = 0;
    } else if (element.scrollTop > 0 || (!takingBack.is && element.matches(':hover, :focus-within'))) {
      const top = heldAt(drawn, before.anchors);
      if (top !== undefined && Math.abs(top - element.scrollTop) >= 1) element.scrollTop = top;
      if (element.scrollTop > 0 && view.total > before.total) arrived.value += view.total - before.total;
    }
    measure(element, seen);
    held.current = { key, total: view.total, anchors: anchorsAt(drawn, element.scrollTop, element.clientHeight) };
  }, [view, geometry, key]);
  // Scrolling chooses other rows.
  useLayoutEffect(() => {
    const drawn = { start: view.start, items: view.items, geometry };
    held.current.anchors = anchorsAt(drawn, seen.value.top, seen.value.height);
  }, [seen.value]);
  useResize(scroller, seen);
  useCursor(list, scroller, shown);
}

/** Rows are drawn again only when other ones are seen. */
function measure({ scrollTop: top, clientHeight: height }: Element, seen: Signal<Seen>): void {
  const before = seen.peek();
  if (top !== before.top || height !== before.height) seen.value = { top, height };
}

function useResize(scroller: RefObject<HTMLDivElement | null>, seen: Signal<Seen>): void {
  useLayoutEffect(() => {
    const element = scroller.current!;
    const observer = new ResizeObserver(() => measure(element, seen));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}

/** The row that the keys are at is seen, and has the focus when the list or nothing has it. */
function useCursor(
  list: Store['list'],
  scroller: RefObject<HTMLDivElement | null>,
  shown: ReadonlySignal<Shown>,
): void {
  const id = list.cursorId.value;
  useLayoutEffect(() => {
    const index = list.indexOf(id);
    const element = scroller.current;
    if (index === undefined || element === null) return;
    const top = shown.peek().geometry.top(index);
    const bottom = shown.peek().geometry.top(index + 1);
    if (top < element.scrollTop) element.scrollTop = index === 0 ? 0 : top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
    const { activeElement } = document;
    if (activeElement === document.body || element.contains(activeElement))
      document.getElementById(`row-${list.at(index)?.id}`)?.focus({ preventScroll: true });
  }, [id]);
}

const isSelectPart = ({ target }: Event): boolean =>
  target instanceof Element && target.closest('[data-part="select"]') !== null;

function clicked(store: Store, event: MouseEvent, pressed: string | undefined): void {
  const { list } = store;
  const id = rowOf(event)?.dataset['id'];
  if (id === undefined) return;
  const isAvatar = pressed === id || isSelectPart(event);
  if (event.shiftKey) list.selectTo(id).catch(sayFailed);
  else if (isAvatar || event.ctrlKey || event.metaKey) list.toggle(id).catch(sayFailed);
  else {
    list.clearSelection();
    openListed(store, id);
  }
}
