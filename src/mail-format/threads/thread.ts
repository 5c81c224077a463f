// Threads: emails that share a message id belong to one thread, whether it is their own id or one that they refer to (RFC 5322 §3.6.4). Ids
// are compared as written, between angle brackets and without white space around them.
import type { MessageSummary } from '../summary.js';

/** The most references in addition to the first, which is the start of the thread. */
const NEAREST = 50;

/** Returns the ids that connect an email to its thread, each once. */
export function threadIds(summary: Pick<MessageSummary, 'messageId' | 'inReplyTo' | 'references'>): string[] {
  const { messageId, inReplyTo, references } = summary;
  const ids = new Set<string>();
  for (const id of [messageId, inReplyTo, ...references.slice(0, 1), ...references.slice(1).slice(-NEAREST)]) {
    const bare = id?.trim().replace(/^<\s*|\s*>$/g, '') ?? '';
    if (bare !== '') ids.add(`<${bare}>`);
  }
  return [...ids];
}

/** Sets that share a member form a group. Returns the number of each set's group; groups are numbered by their first set. */
export function joinedSets<T>(sets: readonly Iterable<T>[]): number[] {
  const parent = sets.map((_, i) => i);
  const rootOf = (i: number): number => {
    let root = i;
    while (parent[root] !== root) root = parent[root]!;
    parent[i] = root;
    return root;
  };
  const seen = new Map<T, number>();
  sets.forEach((set, i) => {
    for (const member of set) {
      const other = seen.get(member);
      if (other === undefined) {
        seen.set(member, i);
        continue;
      }
      const [a, b] = [rootOf(other), rootOf(i)];
      parent[Math.max(a, b)] = Math.min(a, b);
    }
  });
  return sets.map((_, i) => rootOf(i));
}
