// The arguments of a command or test, checked against what it takes: tags first, in any order, then the others (RFC 5228 §2.6).
import type { Compilation } from './compilation.js';
import { type Argument, type Call, type Position, SieveError, type StringNode } from './syntax.js';
import type { Text } from './text.js';

type Kind = 'string' | 'strings' | 'number';

interface Tag {
  /** The kind of the argument that follows the tag. */
  readonly value?: Kind;
  /** One of these extensions must be required. */
  readonly needs?: readonly string[];
  /** Tags of one group exclude each other. */
  readonly group?: string;
}

export type Tags = Readonly<Record<string, Tag>>;

const SHOWN: Readonly<Record<Kind, string>> = { string: 'a string', strings: 'a string or a list', number: 'a number' };

/** The arguments of one call. */
export class Arguments {
  readonly at: Position;
  readonly #compilation: Compilation;
  readonly #tags = new Map<string, Argument | undefined>();
  readonly #positions = new Map<string, Position>();
  readonly #others: readonly Argument[];
  readonly #name: string;

  /** `others`: the kinds of the arguments behind the tags, of which the `optional` one may be missing. @throws SieveError */
  constructor(call: Call, compilation: Compilation, tags: Tags, others: readonly Kind[], optional?: 'first' | 'last') {
    this.at = call.at;
    this.#name = call.name;
    this.#compilation = compilation;
    const rest = this.#takeTags(call, tags);
    const least = others.length - (optional === undefined ? 0 : 1);
    if (rest.length < least || rest.length > others.length) {
      const count = optional === undefined ? `${least}` : `${least} or ${others.length}`;
      throw new SieveError(
        rest[others.length]?.at ?? call.at,
        `${call.name} takes ${count} arguments behind its tags, not ${rest.length}`,
      );
    }
    const kinds = optional === 'first' ? others.slice(others.length - rest.length) : others;
    for (const [i, arg] of rest.entries()) check(arg, kinds[i]!, call.name);
    this.#others = rest;
  }

  #takeTags(call: Call, tags: Tags): readonly Argument[] {
    const { args } = call;
    const groups = new Map<string, string>();
    let i = 0;
    for (let arg = args[i]; arg?.kind === 'tag'; arg = args[i]) {
      const tag = Object.hasOwn(tags, arg.name) ? tags[arg.name] : undefined;
      if (tag === undefined) throw new SieveError(arg.at, `${call.name} has no tag :${arg.name}`);
      this.#compilation.needs(tag.needs ?? [], arg.at, `:${arg.name}`);
      const group = tag.group ?? arg.name;
      const other = groups.get(group);
      if (other !== undefined) throw new SieveError(arg.at, `:${arg.name} cannot follow :${other}`);
      groups.set(group, arg.name);
      this.#positions.set(arg.name, arg.at);
      i++;
      if (tag.value === undefined) this.#tags.set(arg.name, undefined);
      else {
        const value = args[i];
        if (value === undefined) throw new SieveError(arg.at, `:${arg.name} is followed by ${SHOWN[tag.value]}`);
        check(value, tag.value, `:${arg.name}`);
        this.#tags.set(arg.name, value);
        i++;
      }
    }
    return args.slice(i);
  }

  /** The number of arguments behind the tags. */
  get count(): number {
    return this.#others.length;
  }

  has(tag: string): boolean {
    return this.#tags.has(tag);
  }

  /** The first of these tags that is given. */
  oneOf<Name extends string>(tags: readonly Name[]): Name | undefined {
    return tags.find((tag) => this.has(tag));
  }

  positionOf(tag: string): Position {
    return this.#positions.get(tag) ?? this.at;
  }

  /** The number behind a tag. */
  numberOf(tag: string): number | undefined {
    const arg = this.#tags.get(tag);
    return arg?.kind === 'number' ? arg.value : undefined;
  }

  number(i: number): number {
    const arg = this.#others[i];
    if (arg?.kind !== 'number') throw new SieveError(this.at, `${this.#name} needs a number`);
    return arg.value;
  }

  /** The string behind a tag as it is written. */
  nodeOf(tag: string): StringNode | undefined {
    const arg = this.#tags.get(tag);
    return arg?.kind === 'strings' ? arg.values[0] : undefined;
  }

  textOf(tag: string): Text | undefined {
    const node = this.nodeOf(tag);
    return node === undefined ? undefined : this.#compilation.text(node);
  }

  textsOf(tag: string): readonly Text[] | undefined {
    const arg = this.#tags.get(tag);
    return arg?.kind === 'strings' ? arg.values.map((node) => this.#compilation.text(node)) : undefined;
  }

  /** The strings of an argument as they are written. */
  nodes(i: number): readonly StringNode[] {
    const arg = this.#others[i];
    if (arg?.kind !== 'strings') throw new SieveError(this.at, `${this.#name} needs a string`);
    return arg.values;
  }

  text(i: number): Text {
    return this.#compilation.text(this.nodes(i)[0]!);
  }

  texts(i: number): readonly Text[] {
    return this.nodes(i).map((node) => this.#compilation.text(node));
  }
}

/** @throws SieveError when the argument is of another kind */
function check(arg: Argument, kind: Kind, of: string): void {
  const isFit = arg.kind === 'strings' ? kind === 'strings' || (kind === 'string' && !arg.isList) : arg.kind === kind;
  if (isFit) return;
  const given =
    arg.kind === 'tag'
      ? `the tag :${arg.name}`
      : arg.kind === 'number'
        ? 'a number'
        : arg.isList
          ? 'a list'
          : 'a string';
  throw new SieveError(arg.at, `${of} takes ${SHOWN[kind]} here, not ${given}`);
}

/** @throws SieveError when the call has tests or a block that it does not take */
export function expectShape(
  call: Call,
  { tests = 0, block = false }: { tests?: 0 | 1 | 'list'; block?: boolean },
): void {
  const { name, at } = call;
  if (tests === 0 && (call.tests.length > 0 || call.hasTestList))
    throw new SieveError(call.tests[0]?.at ?? at, `${name} takes no test`);
  if (tests === 1 && (call.tests.length !== 1 || call.hasTestList)) throw new SieveError(at, `${name} takes one test`);
  if (tests === 'list' && !call.hasTestList) throw new SieveError(at, `${name} takes tests in parentheses`);
  if (block !== (call.block !== undefined)) throw new SieveError(at, `${name} ${block ? 'takes' : 'has no'} block`);
}
