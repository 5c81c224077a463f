// Describes a setting: the name of its environment variable, its default, its accepted values and its meaning (variables.ts lists all).
import type { Parser } from './values.js';

interface Words {
  /** The default in words, where the value does not tell it; Markdown. */
  readonly byDefault?: string;
  /** Hides the secret part of a value. */
  readonly shown?: (text: string) => string;
}

export interface Variable<T, D> extends Parser<T>, Words {
  readonly name: string;
  readonly initial: D;
  /** Markdown for docs/configuration.md. */
  readonly meaning: string;
}

export function variable<T, D extends T | undefined>(
  name: string,
  initial: D,
  parser: Parser<T>,
  meaning: string,
  words: Words = {},
): Variable<T, D> {
  return { name, initial, meaning, ...words, accepts: parser.accepts, parse: (text) => parser.parse(text) };
}
