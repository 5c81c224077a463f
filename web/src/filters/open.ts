// Begins a filter from an email: the settings open with its sender filled in.
import { signal } from '@preact/signals';
import { go } from '../app/router.js';

/** The sender of an email for which a filter is to be made. */
export const wantedSender = signal<string | undefined>(undefined);

export function filterMailOf(sender: string): void {
  wantedSender.value = sender;
  go({ view: 'settings', section: 'filters' });
}
