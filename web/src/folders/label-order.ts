// The order of labels: siblings by their number and then by name, each followed by those below it; and what changes when one moves. Pure.
import type { Folder, Label, LabelInput } from '../../../src/client/index.js';
import { movedNumbers } from '../app/numbered-order.js';

export interface ShownLabel {
  readonly folder: Folder;
  /** What a change must repeat; undefined until the labels have been read. */
  readonly label: Label | undefined;
  readonly depth: number;
}

export interface LabelChange {
  readonly id: string;
  readonly before: LabelInput;
  readonly after: LabelInput;
}

/** The labels as the first column shows them. Labels whose number is not known yet stand in the order of the folders. */
export function shownLabels(folders: readonly Folder[], labels: readonly Label[]): readonly ShownLabel[] {
  const own = folders.filter(({ role }) => role === 'label');
  const ids = new Set(own.map(({ id }) => id));
  const byId = new Map(labels.map((label, index) => [label.id, { label, index }]));
  const at = ({ id }: Folder) => byId.get(id)?.index ?? labels.length;
  const below = (parentId: string | undefined, depth: number): ShownLabel[] =>
    own
      .filter((folder) => (ids.has(folder.parentId ?? '') ? folder.parentId! : undefined) === parentId)
      .sort((a, b) => at(a) - at(b))
      .flatMap((folder) => [{ folder, label: byId.get(folder.id)?.label, depth }, ...below(folder.id, depth + 1)]);
  return below(undefined, 0);
}

/** The labels that stand with this one below the same parent, in order, itself included. */
export function siblingsOf(shown: readonly ShownLabel[], id: string): readonly Label[] {
  const own = shown.find(({ folder }) => folder.id === id);
  if (own === undefined) return [];
  const at = shown.indexOf(own);
  const isEnd = (one: ShownLabel) => one.depth < own.depth;
  const first = shown.slice(0, at).findLastIndex(isEnd) + 1;
  const end = shown.slice(at).findIndex(isEnd);
  return shown
    .slice(first, end === -1 ? undefined : at + end)
    .flatMap(({ label, depth }) => (depth === own.depth && label !== undefined ? [label] : []));
}

/** The fewest changes of numbers that bring a label to another position among its siblings; none when it cannot go there. */
export function moved(siblings: readonly Label[], id: string, to: number): readonly LabelChange[] {
  const numbers = siblings.map((label) => ({ id: label.id, number: label.sortOrder }));
  return movedNumbers(numbers, id, to).map((change) => {
    const { name, color, sortOrder } = siblings.find((label) => label.id === change.id)!;
    return { id: change.id, before: { name, color, sortOrder }, after: { name, color, sortOrder: change.number } };
  });
}
