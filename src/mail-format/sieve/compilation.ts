// What the compilers of commands and tests share: the required extensions, strings with variables, blocks and tests.
import { SIEVE_EXTENSIONS } from './extensions.js';
import type { Check, SieveInclude, SieveStep } from './run.js';
import { type Call, type Position, SieveError, type StringNode } from './syntax.js';
import { type Text, textOf } from './text.js';

export interface Compilers {
  readonly block: (calls: readonly Call[], compilation: Compilation) => readonly SieveStep[];
  readonly test: (call: Call, compilation: Compilation) => Check;
}

export class Compilation {
  readonly extensions = new Set<string>();
  readonly includes: SieveInclude[] = [];
  readsBody = false;
  readonly #compilers: Compilers;

  constructor(compilers: Compilers) {
    this.#compilers = compilers;
  }

  /** @throws SieveError */
  require({ text, at }: StringNode): void {
    if (!SIEVE_EXTENSIONS.includes(text)) throw new SieveError(at, `the extension "${text}" is not supported`);
    this.extensions.add(text);
  }

  has(extension: string): boolean {
    return this.extensions.has(extension);
  }

  /** @throws SieveError when the script does not require any of these extensions */
  needs(extensions: readonly string[], at: Position, what: string): void {
    if (extensions.length === 0 || extensions.some((extension) => this.extensions.has(extension))) return;
    throw new SieveError(at, `${what} needs require "${extensions[0]}"`);
  }

  /** @throws SieveError */
  text({ text, at }: StringNode): Text {
    return this.has('variables') ? textOf(text, at, this.has('include')) : text;
  }

  /** Returns a string that must not refer to variables. @throws SieveError */
  constant(node: StringNode, what: string): string {
    if (typeof this.text(node) !== 'string') throw new SieveError(node.at, `${what} must not refer to variables`);
    return node.text;
  }

  /** @throws SieveError */
  block(calls: readonly Call[]): readonly SieveStep[] {
    return this.#compilers.block(calls, this);
  }

  /** @throws SieveError */
  test(call: Call): Check {
    return this.#compilers.test(call, this);
  }
}
