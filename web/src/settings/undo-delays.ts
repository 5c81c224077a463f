// The delays that a sender may choose from, in seconds.
const DELAYS = [0, 5, 10, 20, 30, 60] as const;

/** `present`: the delay of now is offered too, when a program has set another one. */
export function undoDelays(present: number): readonly number[] {
  return [...new Set([...DELAYS, present])].sort((a, b) => a - b);
}
