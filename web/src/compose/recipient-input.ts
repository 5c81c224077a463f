// What happens in one field of recipients: entries come from typing, pasting and the completion, and can be changed and removed.
import { signal } from '@preact/signals';
import { addressKey, type Person, personText } from './address.js';
import type { ComposeWindow } from './compose-window.js';
import { asRecipient, merged, parseRecipients, type Recipient, type RecipientType } from './recipients.js';

export interface RecipientInputOptions {
  readonly window: ComposeWindow;
  readonly type: RecipientType;
  /** People that match a text. */
  find(text: string): Promise<readonly Person[]>;
  changed(): void;
}

const PAUSE_MS = 120;
const MOST_SHOWN = 6;

export class RecipientInput {
  /** The completion; the one that is active is chosen by Enter. */
  readonly found = signal<readonly Person[]>([]);
  readonly active = signal(-1);
  element: HTMLInputElement | null = null;
  readonly #options: RecipientInputOptions;
  #asked = 0;

  constructor(options: RecipientInputOptions) {
    this.#options = options;
  }

  get entries(): readonly Recipient[] {
    return this.#options.window.recipients.value[this.#options.type];
  }

  /** Makes entries of what was typed. */
  readonly commit = (): void => {
    const { window, type, changed } = this.#options;
    this.close();
    if (window.commit(type)) changed();
  };

  close(): void {
    this.#asked++;
    this.found.value = [];
    this.active.value = -1;
  }

  choose(person: Person): void {
    this.close();
    this.#options.window.type(this.#options.type, '');
    this.#add([asRecipient(person)]);
    this.element?.focus();
  }

  /** Takes an entry back into the input. */
  readonly change = (entry: Recipient): void => {
    this.commit();
    this.#set(this.entries.filter((one) => one !== entry));
    this.#options.window.type(this.#options.type, entry.isValid ? personText(entry) : entry.address);
    this.element?.focus();
  };

  readonly remove = (entry: Recipient): void => {
    this.#set(this.entries.filter((one) => one !== entry));
    this.element?.focus();
  };

  typed(text: string): void {
    const { window, type, changed } = this.#options;
    window.type(type, text);
    changed();
    // A separator ends an entry, outside of quotes.
    const isEnded = /[,;]\s*$/.test(text) && text.split('"').length % 2 === 1;
    if (isEnded) this.commit();
    else this.#complete(text.trim());
  }

  readonly onPaste = (event: ClipboardEvent): void => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (this.element?.value !== '' || !/[@,;\n]/.test(text)) return;
    event.preventDefault();
    this.close();
    this.#add(parseRecipients(text));
  };

  readonly onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || !this.#handles(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** Returns false for keys that keep their usual meaning. */
  #handles({ key, shiftKey }: KeyboardEvent): boolean {
    const { length } = this.found.value;
    const chosen = this.found.value[this.active.value];
    if (length > 0 && key === 'ArrowDown') this.active.value = (this.active.value + 1) % length;
    else if (length > 0 && key === 'ArrowUp') this.active.value = (this.active.value - 1 + length) % length;
    else if (length > 0 && key === 'Escape') this.close();
    else if (chosen !== undefined && (key === 'Enter' || (key === 'Tab' && !shiftKey))) this.choose(chosen);
    else if (key === 'Enter') this.commit();
    else if (key === 'Backspace' && this.element?.value === '' && this.entries.length > 0)
      this.#set(this.entries.slice(0, -1));
    else return false;
    return true;
  }

  #complete(text: string): void {
    const number = ++this.#asked;
    if (text === '') {
      this.close();
      return;
    }
    setTimeout(async () => {
      if (number !== this.#asked) return;
      const people = await this.#options.find(text).catch(() => []);
      if (number !== this.#asked) return;
      const keys = new Set(this.entries.map((one) => addressKey(one.address)));
      this.found.value = people.filter((one) => !keys.has(addressKey(one.address))).slice(0, MOST_SHOWN);
      this.active.value = this.found.value.length > 0 ? 0 : -1;
    }, PAUSE_MS);
  }

  #add(more: readonly Recipient[]): void {
    this.#set(merged(this.entries, more));
  }

  #set(list: readonly Recipient[]): void {
    this.#options.window.setRecipients(this.#options.type, list);
    this.#options.changed();
  }
}
