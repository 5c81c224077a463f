// Whether a message is junk, from its score and from what has been learnt. Nothing is junk before enough messages of both kinds are learnt.
import { junkScore } from './junk-score.js';
import type { JunkWords } from './junk-words.js';

/** Messages of each kind that must be learnt; after fewer, too much other mail goes to Junk (decision 0106). */
export const FEWEST_LEARNT = 40;
/**
 * The cut-off lies a little above the scores that other mail of the account had before it was learnt, within these bounds: whose mail looks
 * harmless has more junk found, and who gets mail that looks like junk loses none of it.
 */
const LOWEST_CUT = 0.6;
const HIGHEST_CUT = 0.8;
const MARGIN = 0.2;
/** The share of the ceiling that is left when another message is learnt: after 350 of them, half. */
const REMEMBERED = 0.998;

const isReady = ({ junk, ham }: Pick<JunkWords, 'junk' | 'ham'>): boolean =>
  junk >= FEWEST_LEARNT && ham >= FEWEST_LEARNT;

/** The words by which an account judges its mail. */
export interface JudgingWords {
  /** What the account has taught; undefined when that is nothing. */
  readonly own: JunkWords | undefined;
  /** What several accounts of its domain have taught (decision 0111). */
  readonly base: JunkWords | undefined;
}

/**
 * The cut-offs of the score by both, what the account has taught and the common base: where its own words say junk, where they do not, and
 * where it has taught too little (decision 0111).
 */
const CONFIRMING_CUT = 0.6;
const CONTRARY_CUT = 0.8;
const BASE_CUT = 0.85;

/** Whether mail can be judged by these words. */
export const canJudge = ({ own, base }: JudgingWords): boolean =>
  base !== undefined || (own !== undefined && isReady(own));

export function looksLikeJunk(tokens: Uint32Array, { own, base }: JudgingWords): boolean {
  const isTaught = own !== undefined && isReady(own);
  const isOwnJunk = () => isTaught && junkScore(tokens, own) >= cutOf(own);
  if (base === undefined) return isOwnJunk();
  const score = junkScore(tokens, own, base);
  if (score >= (isTaught ? CONTRARY_CUT : BASE_CUT)) return true;
  // Most mail ends here, with one score.
  return score >= CONFIRMING_CUT && isOwnJunk();
}

/** Learns a message; other mail also says where the cut-off is. */
export function learnMessage(tokens: Uint32Array, isJunk: boolean, words: JunkWords): void {
  if (!isJunk && isReady(words)) {
    const score = 1_000 * junkScore(tokens, words);
    words.ceiling = Math.round(Math.max(score, REMEMBERED * words.ceiling));
  }
  words.learn(tokens, isJunk);
}

const cutOf = ({ ceiling }: JunkWords): number => Math.min(HIGHEST_CUT, Math.max(LOWEST_CUT, ceiling / 1_000 + MARGIN));
