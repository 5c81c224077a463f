// Which folder or label is being made, changed, or is in question, in the first column.
import { signal } from '@preact/signals';
import type { Folder } from '../../../src/client/index.js';

export interface Editing {
  readonly what: 'label' | 'folder';
  /** What is changed; without it one is made. */
  readonly folder?: Folder;
  /** In which folder one is made. */
  readonly parent?: Folder;
}

export const editing = signal<Editing | undefined>(undefined);

/** The folder or label whose deletion waits for an answer. */
export const inQuestion = signal<Folder | undefined>(undefined);
