// The two policies of `KeyedLimiter`: how much of a total one key may use. Both are functions of three amounts, so a policy has no state.

/** The reason why an amount is refused: the key has used up its share, or too little of the total is left for any key. */
export type Exhausted = 'share' | 'total';

export interface SharePolicy {
  readonly total: number;
  /** Decides about `amount` more for a key that uses `own`, while all keys use `all`. Undefined: granted. */
  exhausted(own: number, all: number, amount: number): Exhausted | undefined;
}

export interface FixedShareOptions {
  readonly total: number;
  /** The most that one key may use. */
  readonly share: number;
}

/** Each key has the same share of the total, however much is left. The options may change. */
export function fixedShare(options: FixedShareOptions): SharePolicy {
  return {
    get total() {
      return options.total;
    },
    exhausted(own, all, amount) {
      if (own + amount > options.share) return 'share';
      return all + amount > options.total ? 'total' : undefined;
    },
  };
}

export interface DynamicShareOptions {
  readonly total: number;
  /** 2 by default: a single key gets two thirds of the total. */
  readonly factor?: number;
  /** The most that one key may use, however much is left: the total by default. */
  readonly share?: number;
}

/**
 * The share of a key depends on what is left (dynamic thresholds: Choudhury and Hahne, 1998): a key may use more while it uses less than
 * `factor` times what is left. A single key gets factor / (1 + factor) of the total, n keys get equal parts, and something is always left
 * for the next key.
 */
export function dynamicShare({ total, factor = 2, share = total }: DynamicShareOptions): SharePolicy {
  return {
    total,
    exhausted(own, all, amount) {
      if (own + amount > share) return 'share';
      // Each unit that is granted adds one to the key and removes one from what is left.
      const more = Math.ceil((factor * (total - all) - own) / (factor + 1));
      if (amount <= Math.max(0, more)) return undefined;
      return all + amount > total ? 'total' : 'share';
    },
  };
}
