// The parser of Sieve scripts (RFC 5228 §8.2). Nesting is bounded, because parser, compiler and interpreter recurse.
import { Lexer, type Token } from './lexer.js';
import { type Argument, type Call, SieveError, type StringNode } from './syntax.js';

/** The most blocks and tests within each other. */
const DEEPEST = 32;
/** The most commands and tests of a script. */
const MOST_CALLS = 10_000;
const MOST_STRINGS = 10_000;

/** @throws SieveError at the first fault */
export function parseSieve(text: string): readonly Call[] {
  return new Parser(text).script();
}

class Parser {
  readonly #lexer: Lexer;
  #token: Token;
  #calls = 0;
  #strings = 0;

  constructor(text: string) {
    this.#lexer = new Lexer(text);
    this.#token = this.#lexer.next();
  }

  script(): readonly Call[] {
    const commands = this.#commands(0);
    if (this.#token.kind !== 'end') throw this.#unexpected('a command');
    return commands;
  }

  #commands(depth: number): Call[] {
    const commands: Call[] = [];
    while (this.#token.kind === 'identifier') commands.push(this.#command(depth));
    return commands;
  }

  #command(depth: number): Call {
    const call = this.#call(depth);
    if (this.#takeMark(';')) return call;
    if (!this.#takeMark('{')) throw this.#unexpected(`";" or a block after ${call.name}`);
    const block = this.#commands(depth + 1);
    if (!this.#takeMark('}')) throw this.#unexpected('"}" or a command');
    return { ...call, block };
  }

  /** Reads name, arguments and tests. */
  #call(depth: number): Call {
    const name = this.#token;
    if (name.kind !== 'identifier') throw this.#unexpected('a name');
    if (depth > DEEPEST) throw new SieveError(name.at, `blocks and tests are nested deeper than ${DEEPEST}`);
    if (++this.#calls > MOST_CALLS)
      throw new SieveError(name.at, `the script has more than ${MOST_CALLS} commands and tests`);
    this.#advance();
    const args: Argument[] = [];
    for (let arg = this.#argument(); arg !== undefined; arg = this.#argument()) args.push(arg);
    const hasTestList = this.#isMark('(');
    const tests = hasTestList
      ? this.#testList(depth)
      : this.#token.kind === 'identifier'
        ? [this.#call(depth + 1)]
        : [];
    return { name: name.text, at: name.at, args, tests, hasTestList, block: undefined };
  }

  #testList(depth: number): Call[] {
    const tests: Call[] = [];
    do {
      this.#advance();
      tests.push(this.#call(depth + 1));
    } while (this.#isMark(','));
    if (!this.#takeMark(')')) throw this.#unexpected('"," or ")"');
    return tests;
  }

  #argument(): Argument | undefined {
    const token = this.#token;
    const { at } = token;
    if (token.kind === 'tag') {
      this.#advance();
      return { kind: 'tag', name: token.text, at };
    }
    if (token.kind === 'number') {
      this.#advance();
      return { kind: 'number', value: token.value, at };
    }
    if (token.kind === 'string') return { kind: 'strings', values: [this.#string()], isList: false, at };
    if (!this.#isMark('[')) return undefined;
    const values: StringNode[] = [];
    do {
      this.#advance();
      values.push(this.#string());
    } while (this.#isMark(','));
    if (!this.#takeMark(']')) throw this.#unexpected('"," or "]"');
    return { kind: 'strings', values, isList: true, at };
  }

  #string(): StringNode {
    const token = this.#token;
    if (token.kind !== 'string') throw this.#unexpected('a string');
    if (++this.#strings > MOST_STRINGS)
      throw new SieveError(token.at, `the script has more than ${MOST_STRINGS} strings`);
    this.#advance();
    return { text: token.text, at: token.at };
  }

  #advance(): void {
    this.#token = this.#lexer.next();
  }

  #isMark(mark: string): boolean {
    return this.#token.kind === 'mark' && this.#token.text === mark;
  }

  #takeMark(mark: string): boolean {
    const isThere = this.#isMark(mark);
    if (isThere) this.#advance();
    return isThere;
  }

  #unexpected(expected: string): SieveError {
    return new SieveError(this.#token.at, `${shown(this.#token)} where ${expected} is expected`);
  }
}

function shown(token: Token): string {
  if (token.kind === 'end') return 'the script ends';
  if (token.kind === 'mark') return `"${token.text}" stands`;
  if (token.kind === 'identifier') return `${token.text.slice(0, 40)} stands`;
  return `a ${token.kind} stands`;
}
