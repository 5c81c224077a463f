// UIDs as commands of a mailbox take them.

/** Messages that one command takes. */
export const MOST_MESSAGES = 10_000;

type UidRange = [first: number, last: number];

/** `uids` ascend. */
export function rangesOf(uids: Iterable<number>): UidRange[] {
  const ranges: UidRange[] = [];
  for (const uid of uids) {
    const last = ranges.at(-1);
    if (last !== undefined && uid === last[1] + 1) last[1] = uid;
    else ranges.push([uid, uid]);
  }
  return ranges;
}

/** As many commands as the UIDs need. */
export function* batchesOf(uids: readonly number[] | Uint32Array): Generator<UidRange[]> {
  for (let at = 0; at < uids.length; at += MOST_MESSAGES) yield rangesOf(uids.slice(at, at + MOST_MESSAGES));
}
