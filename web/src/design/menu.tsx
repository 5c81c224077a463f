// A button with a menu below it. The menu closes with Escape, with a click elsewhere, and with a choice; arrows move in it.
import './menu.css';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface MenuProps {
  readonly label: ComponentChildren;
  /** The name of the button, where `label` does not say it all. */
  readonly name?: string;
  readonly class?: string;
  /** The items, made when the menu opens. */
  readonly children: (close: () => void) => ComponentChildren;
}

export function Menu({ label, name, class: classes = 'button is-plain', children }: MenuProps) {
  const isOpen = useSignal(false);
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    isOpen.value = false;
    button.current?.focus();
  };
  useLayoutEffect(() => {
    if (!isOpen.value) return;
    items(place.current)[0]?.focus();
    const onPointer = ({ target }: Event) => {
      if (target instanceof Node && !place.current?.contains(target)) isOpen.value = false;
    };
    document.addEventListener('pointerdown', onPointer);
    return () => document.removeEventListener('pointerdown', onPointer);
  }, [isOpen.value]);
  return (
    <div class="menu-place" ref={place} onKeyDown={(event) => onKey(event, place.current, close)}>
      <button
        ref={button}
        type="button"
        class={classes}
        aria-label={name}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {label}
      </button>
      {isOpen.value && (
        <div class="menu" role="menu">
          {children(close)}
        </div>
      )}
    </div>
  );
}

export interface MenuItemProps {
  readonly children: ComponentChildren;
  /** Whether the choice is the present one; undefined for what is no choice. */
  readonly isChosen?: boolean;
  /** Several choices of a group can hold at once. */
  readonly isCheckbox?: boolean;
  readonly onChoose: () => void;
}

export function MenuItem({ children, isChosen, isCheckbox = false, onChoose }: MenuItemProps) {
  const role = isChosen === undefined ? 'menuitem' : isCheckbox ? 'menuitemcheckbox' : 'menuitemradio';
  return (
    <button type="button" class="menu-item" role={role} aria-checked={isChosen} onClick={onChoose}>
      {children}
    </button>
  );
}

export function MenuGroup({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of a menu is no set of fields.
    <div role="group" aria-label={label} class="menu-group">
      <div class="menu-heading" aria-hidden="true">
        {label}
      </div>
      {children}
    </div>
  );
}

function items(place: Element | null): HTMLElement[] {
  return [...(place?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
}

function onKey(event: KeyboardEvent, place: Element | null, close: () => void): void {
  const all = items(place);
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement as HTMLElement);
  const to: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
  if (event.key === 'Escape' || event.key === 'Tab') close();
  else if (event.key in to) all.at(to[event.key]! % all.length)?.focus();
  else return;
  event.stopPropagation();
  if (event.key !== 'Tab') event.preventDefault();
}
