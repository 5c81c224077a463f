// Parses values of FETCH responses as far as tests compare them: a literal equals a quoted string, and lists are arrays.

export type ResponseValue = string | null | readonly ResponseValue[];

/** Parses `ENVELOPE (…)` or `BODY[…]<0> {4}…` into the upper-case name and the value. One character is one octet. */
export function attributeOf(text: string): { readonly name: string; readonly value: ResponseValue } {
  const [name = ''] = /^[A-Z0-9.]+(?:\[[^\]]*\](?:<\d+>)?)?/.exec(text) ?? [];
  const reader = new ValueReader(text, name.length + 1);
  const value = reader.value();
  if (!reader.isAtEnd) throw new Error(`more than one value in ${text}`);
  return { name: name.toUpperCase(), value };
}

class ValueReader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  value(): ResponseValue {
    if (this.#accept(/\(/y) !== undefined) return this.#list();
    const quoted = this.#accept(/"((?:[^"\\]|\\.)*)"/sy);
    if (quoted !== undefined) return quoted[1]!.replace(/\\(.)/gs, '$1');
    const literal = this.#accept(/~?\{(\d+)\}\r\n/y);
    if (literal !== undefined) {
      const end = this.#at + Number(literal[1]);
      const octets = this.#text.slice(this.#at, end);
      this.#at = end;
      return octets;
    }
    const atom = this.#accept(/[^\s()"{}]+/y);
    if (atom === undefined) throw new Error(`no value at ${this.#at} of ${this.#text}`);
    return atom[0] === 'NIL' ? null : atom[0];
  }

  #list(): readonly ResponseValue[] {
    const values: ResponseValue[] = [];
    while (this.#accept(/\)/y) === undefined) {
      values.push(this.value());
      this.#accept(/ /y);
    }
    return values;
  }

  #accept(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found;
  }
}
