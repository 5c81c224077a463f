// Regular expressions of users, in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), without regard to case. `re2js` needs time
// in proportion to the text and to the steps of the expression, so both have bounds together: one search takes at most about 50 ms.
import { RE2JS } from 're2js';

/** The most characters of an expression. */
export const LONGEST_PATTERN = 300;
/** The most characters of a text that are searched. */
export const MOST_SEARCHED = 16_384;
const MOST_STEPS = 1_000;
/** Steps of the expression times characters of the text. */
const MOST_WORK = 2 ** 21;
/** The sum of all counts in braces: the library writes a counted part that often before anybody can see how many steps it has. */
const MOST_COUNTED = 300;
const COUNT = /\{(\d+)(?:,(\d*))?\}/g;

const TOO_LARGE = 'is too large: it has too many steps or counted repetitions';

export class SafePattern {
  readonly #expression: RE2JS;
  /** The characters of a text that are searched. */
  readonly most: number;

  constructor(expression: RE2JS) {
    this.#expression = expression;
    this.most = Math.min(MOST_SEARCHED, Math.floor(MOST_WORK / expression.programSize()));
  }

  /** Whether the expression matches a part of the text. */
  isFoundIn(text: string): boolean {
    return this.#expression.test(text.slice(0, this.most));
  }
}

/** Compiles an expression, or says why that is not possible: the rest of a sentence about it. */
export function compilePattern(expression: string): { readonly pattern: SafePattern } | { readonly fault: string } {
  if (expression.length > LONGEST_PATTERN) return { fault: `must have at most ${LONGEST_PATTERN} characters` };
  let counted = 0;
  for (const [, least, most] of expression.matchAll(COUNT)) counted += Number(most || least);
  if (counted > MOST_COUNTED) return { fault: TOO_LARGE };
  try {
    const compiled = RE2JS.compile(expression, RE2JS.CASE_INSENSITIVE);
    return compiled.programSize() > MOST_STEPS ? { fault: TOO_LARGE } : { pattern: new SafePattern(compiled) };
  } catch (error) {
    return { fault: `is no regular expression: ${reasonOf(error)}` };
  }
}

/** The message of the library without the expression, which the library has changed. */
function reasonOf(error: unknown): string {
  const { message } = error as Error;
  return message.replace(/^error parsing regexp: /, '').replace(/: `.*$/s, '');
}
