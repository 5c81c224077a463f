// Converts UIDs for commands of a mailbox.

/** Messages per command. */
export const MOST_MESSAGES = 10_000;
/** Messages per command that the mailbox plans one by one, because other accounts wait for the same event loop. */
export const MOST_OF_COMMAND = 2_500;

type UidRange = [first: number, last: number];

/** `uids` must ascend. */
export function rangesOf(uids: ArrayLike<number>): UidRange[] {
  const { length } = uids;
  // UIDs are consecutive in most cases.
  if (length > 0 && uids[length - 1]! - uids[0]! === length - 1) return [[uids[0]!, uids[length - 1]!]];
  const ranges: UidRange[] = [];
  for (let from = 0, to = 1; from < uids.length; from = to++) {
    while (to < uids.length && uids[to] === uids[to - 1]! + 1) to++;
    ranges.push([uids[from]!, uids[to - 1]!]);
  }
  return ranges;
}

/** Yields one batch per command. */
export function* batchesOf(uids: readonly number[]): Generator<UidRange[]> {
  for (let at = 0; at < uids.length; at += MOST_OF_COMMAND) yield rangesOf(uids.slice(at, at + MOST_OF_COMMAND));
}
