// Sorts numbers by a comparison, in steps of a few milliseconds: runs are sorted one by one, then merged.

const RUN = 1024;
/** The numbers that are merged between two yields. */
const STEP = 4096;

/** The sort is stable. It yields periodically, so that the caller can let other work run. */
export function* sortedStepwise(
  numbers: Uint32Array,
  compare: (a: number, b: number) => number,
): Generator<void, Uint32Array> {
  let sorted = numbers.slice();
  for (let start = 0; start < sorted.length; start += RUN) {
    sorted.subarray(start, start + RUN).sort(compare);
    yield;
  }
  let merged = new Uint32Array(sorted.length);
  let steps = 0;
  for (let width = RUN; width < sorted.length; width *= 2) {
    for (let start = 0; start < sorted.length; start += 2 * width) {
      const middle = Math.min(start + width, sorted.length);
      const end = Math.min(middle + width, sorted.length);
      for (let left = start, right = middle, at = start; at < end; at++) {
        const takesLeft = right === end || (left < middle && compare(sorted[left]!, sorted[right]!) <= 0);
        merged[at] = takesLeft ? sorted[left++]! : sorted[right++]!;
        if (++steps % STEP === 0) yield;
      }
    }
    [sorted, merged] = [merged, sorted];
  }
  return sorted;
}

/** Returns 0, 1, 2, … */
export const ascending = (count: number): Uint32Array => new Uint32Array(count).map((_, i) => i);
