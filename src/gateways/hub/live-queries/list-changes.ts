// The difference between two states of a list, as changes that a client applies in order. Pure.

/** The state of a list at a client: emails in their order, and the version of each that was sent. */
export interface ListSnapshot {
  readonly emailIds: readonly string[];
  readonly versions: readonly number[];
  readonly totalCount: number;
  readonly unreadCount: number;
}

export const EMPTY_LIST: ListSnapshot = { emailIds: [], versions: [], totalCount: 0, unreadCount: 0 };

/** A change of a list; `index` counts from 0 in the list after the previous changes. */
export type ListStep =
  | { readonly type: 'removed'; readonly index: number; readonly id: string }
  | { readonly type: 'inserted' | 'changed'; readonly index: number; readonly id: string; readonly version: number }
  | { readonly type: 'counted'; readonly total: number; readonly unread: number };

/** The steps that turn `before` into `after`; empty when both are equal. An email that has moved is removed and inserted. */
export function stepsBetween(before: ListSnapshot, after: ListSnapshot): readonly ListStep[] {
  const steps: ListStep[] = [];
  const ids = [...before.emailIds];
  const versions = [...before.versions];
  const remove = (index: number): void => {
    steps.push({ type: 'removed', index, id: ids[index]! });
    ids.splice(index, 1);
    versions.splice(index, 1);
  };
  const wanted = new Set(after.emailIds);
  // The loop runs from the end, so that the indexes of the other emails stay valid.
  for (let index = ids.length - 1; index >= 0; index--) if (!wanted.has(ids[index]!)) remove(index);
  after.emailIds.forEach((id, index) => {
    const version = after.versions[index]!;
    if (ids[index] === id) {
      if (versions[index] !== version) steps.push({ type: 'changed', index, id, version });
      return;
    }
    const from = ids.indexOf(id, index);
    if (from >= 0) remove(from);
    ids.splice(index, 0, id);
    versions.splice(index, 0, version);
    steps.push({ type: 'inserted', index, id, version });
  });
  const { totalCount: total, unreadCount: unread } = after;
  if (total !== before.totalCount || unread !== before.unreadCount) steps.push({ type: 'counted', total, unread });
  return steps;
}

/** The emails whose items the steps need, with their versions. */
export function neededBy(steps: readonly ListStep[]): readonly (readonly [id: string, version: number])[] {
  return steps.flatMap((step) =>
    step.type === 'inserted' || step.type === 'changed' ? [[step.id, step.version] as const] : [],
  );
}

/** A change of the event `ListChanged`. */
export type ListChange =
  | { readonly type: 'removed'; readonly index: number; readonly id: string }
  | { readonly type: 'inserted' | 'changed'; readonly index: number; readonly item: unknown }
  | { readonly type: 'counted'; readonly total: number; readonly unread: number }
  /** The last change: the list no longer exists. */
  | { readonly type: 'ended'; readonly error: string };

export function changesOf(steps: readonly ListStep[], itemOf: (id: string) => unknown): readonly ListChange[] {
  return steps.map((step) => {
    if (step.type === 'removed' || step.type === 'counted') return step;
    return { type: step.type, index: step.index, item: itemOf(step.id) };
  });
}
