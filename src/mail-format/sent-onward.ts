// Mail that belongs to an account, and goes to addresses elsewhere on its behalf: that of an alias whose targets are elsewhere, and bounces
// of forwarded mail (docs/forwarding.md).
export interface SentOnward {
  /** Each once. */
  readonly targets: readonly string[];
  /** The account gets the message too. */
  readonly isPlaced: boolean;
}

/** Undefined stands for a delivery that is only placed. */
export function joinedOnward(one: SentOnward | undefined, other: SentOnward | undefined): SentOnward | undefined {
  if (one === undefined && other === undefined) return undefined;
  const targets = new Set([...(one?.targets ?? []), ...(other?.targets ?? [])]);
  return { targets: [...targets], isPlaced: (one?.isPlaced ?? true) || (other?.isPlaced ?? true) };
}
