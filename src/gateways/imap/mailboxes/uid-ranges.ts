// UIDs as commands of a mailbox take them.

/** Messages that one command takes. */
export const MOST_MESSAGES = 10_000;
/** The same of a command that the mailbox plans message by message: other accounts wait for its turn of the event loop. */
export const MOST_OF_COMMAND = 2_500;

type UidRange = [first: number, last: number];

/** `uids` ascend. */
export function rangesOf(uids: ArrayLike<number>): UidRange[] {
  const { length } = uids;
  // Mostly they follow each other.
  if (length > 0 && uids[length - 1]! - uids[0]! === length - 1) return [[uids[0]!, uids[length - 1]!]];
  const ranges: UidRange[] = [];
  for (let from = 0, to = 1; from < uids.length; from = to++) {
    while (to < uids.length && uids[to] === uids[to - 1]! + 1) to++;
    ranges.push([uids[from]!, uids[to - 1]!]);
  }
  return ranges;
}

/** As many commands as the UIDs need. */
export function* batchesOf(uids: readonly number[]): Generator<UidRange[]> {
  for (let at = 0; at < uids.length; at += MOST_OF_COMMAND) yield rangesOf(uids.slice(at, at + MOST_OF_COMMAND));
}
