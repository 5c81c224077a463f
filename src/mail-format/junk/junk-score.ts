// The score of a message: how much its tokens look like junk. Each token has Robinson's estimate, and the geometric means of all estimates
// make the score (G. Robinson, A Statistical Approach to the Spam Problem, Linux Journal 107, 2003). On mail with pairs of words, whose
// estimates depend on each other, the means divide better than Fisher's method, whose scores lie at the ends (decision 0106).
import { BASE_UNIT } from './domain-words.js';
import { JunkWords } from './junk-words.js';
import { MOST_TOKENS } from './token-set.js';

/** The weight of the assumption that a token says nothing, in messages. */
const ASSUMED_WEIGHT = 0.1;
/** Tokens nearer to the middle than this do not count; the farthest are at 0.5. */
const LEAST_STRENGTH = 0.45;
/** The tokens that say most decide. */
const MOST_DECIDING = 100;
const FACTORS = 40;
/** The steps of strength between which tokens are told apart. */
const STEPS = 255;

/** A message that the account has taught counts as much as this many of the base of its domain. */
const OWN_WEIGHT = 3;
const NO_WORDS = new JunkWords();

/** Returns a number from 0 (ham) to 1 (junk); 0.5 when nothing is known. `base`: the common words of the domain. */
export function junkScore(tokens: Uint32Array, words: JunkWords | undefined, base?: JunkWords): number {
  const deciding =
    base === undefined ? strongest(tokens, words ?? NO_WORDS) : strongestOfBoth(tokens, words ?? NO_WORDS, base);
  const count = deciding.length;
  if (count === 0) return 0.5;
  let junk = 0;
  let ham = 0;
  // A logarithm of a product costs less than the sum of many; the products of so few factors are no zeros.
  for (let start = 0; start < count; start += FACTORS) {
    let junkProduct = 1;
    let hamProduct = 1;
    for (let i = start; i < Math.min(count, start + FACTORS); i++) {
      junkProduct *= 0.5 - deciding[i]!;
      hamProduct *= 0.5 + deciding[i]!;
    }
    junk += Math.log(junkProduct);
    ham += Math.log(hamProduct);
  }
  const looksJunk = 1 - Math.exp(junk / count);
  const looksHam = 1 - Math.exp(ham / count);
  return looksJunk / (looksJunk + looksHam);
}

/** Memory that all verdicts use, one after the other. */
const strengths = new Float64Array(MOST_TOKENS);
const ownPlaces = new Int32Array(MOST_TOKENS);
const basePlaces = new Int32Array(MOST_TOKENS);
/** The step of each strength, and how many have each step. */
const steps = new Uint8Array(MOST_TOKENS);
const counts = new Uint16Array(STEPS + 1);

/** How far the tokens are from the middle, -0.5 to 0.5. */
function strongest(tokens: Uint32Array, words: JunkWords): Float64Array {
  const { junk, ham } = words;
  words.placesOf(tokens, ownPlaces);
  let count = 0;
  for (let i = 0; i < tokens.length; i++) {
    const place = ownPlaces[i]!;
    if (place < 0) continue;
    const inJunk = words.junkAt(place);
    const inHam = words.hamAt(place);
    if (inJunk + inHam === 0) continue;
    const strength = strengthOf(inJunk, inHam, junk, ham);
    if (strength >= LEAST_STRENGTH || strength <= -LEAST_STRENGTH) strengths[count++] = strength;
  }
  return decisive(strengths.subarray(0, count));
}

function strongestOfBoth(tokens: Uint32Array, own: JunkWords, base: JunkWords): Float64Array {
  const junk = OWN_WEIGHT * own.junk + BASE_UNIT * base.junk;
  const ham = OWN_WEIGHT * own.ham + BASE_UNIT * base.ham;
  own.placesOf(tokens, ownPlaces);
  base.placesOf(tokens, basePlaces);
  let count = 0;
  for (let i = 0; i < tokens.length; i++) {
    const ownPlace = ownPlaces[i]!;
    const basePlace = basePlaces[i]!;
    let inJunk = 0;
    let inHam = 0;
    if (ownPlace >= 0) {
      inJunk += OWN_WEIGHT * own.junkAt(ownPlace);
      inHam += OWN_WEIGHT * own.hamAt(ownPlace);
    }
    if (basePlace >= 0) {
      inJunk += BASE_UNIT * base.junkAt(basePlace);
      inHam += BASE_UNIT * base.hamAt(basePlace);
    }
    if (inJunk + inHam === 0) continue;
    const strength = strengthOf(inJunk, inHam, junk, ham);
    if (strength >= LEAST_STRENGTH || strength <= -LEAST_STRENGTH) strengths[count++] = strength;
  }
  return decisive(strengths.subarray(0, count));
}

/** Robinson's estimate of a token that occurs in so many messages of all. */
function strengthOf(inJunk: number, inHam: number, junk: number, ham: number): number {
  const shareOfJunk = inJunk / Math.max(1, junk);
  const shareOfHam = inHam / Math.max(1, ham);
  const estimate = shareOfJunk / (shareOfJunk + shareOfHam);
  const occurring = inJunk + inHam;
  return (occurring * (estimate - 0.5)) / (ASSUMED_WEIGHT + occurring);
}

/** Returns those that are the farthest from the middle. They are counted by their strength, because to sort them takes longer. */
function decisive(all: Float64Array): Float64Array {
  if (all.length <= MOST_DECIDING) return all;
  counts.fill(0);
  for (let i = 0; i < all.length; i++) {
    const step = stepOf(all[i]!);
    steps[i] = step;
    counts[step]!++;
  }
  let least = STEPS;
  let chosen = 0;
  while (chosen + counts[least]! <= MOST_DECIDING) chosen += counts[least--]!;
  // The step in which the limit lies has a part of them, the first ones.
  let left = MOST_DECIDING - chosen;
  let count = 0;
  for (let i = 0; i < all.length; i++) {
    const step = steps[i]!;
    if (step > least || (step === least && left-- > 0)) all[count++] = all[i]!;
  }
  return all.subarray(0, count);
}

const stepOf = (strength: number): number =>
  Math.floor(((Math.abs(strength) - LEAST_STRENGTH) / (0.5 - LEAST_STRENGTH)) * STEPS);
