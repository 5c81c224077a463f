// The variables of one script, or those that scripts share (RFC 5229, RFC 6609 §3.4): names in lower case, values of bounded size.
import type { SieveBounds } from './limits.js';

export class Variables {
  readonly #bounds: SieveBounds;
  readonly #globals: Variables | undefined;
  readonly #values = new Map<string, string>();
  /** Names that mean the variable that scripts share. */
  readonly #shared = new Set<string>();
  #octets = 0;

  constructor(bounds: SieveBounds, globals?: Variables) {
    this.#bounds = bounds;
    this.#globals = globals;
  }

  share(name: string): void {
    this.#shared.add(name);
  }

  get(name: string): string {
    const globals = this.#shared.has(name) ? this.#globals : undefined;
    return globals === undefined ? (this.#values.get(name) ?? '') : globals.get(name);
  }

  /** Returns what is wrong, if anything: the bounds of all variables. */
  set(name: string, value: string): string | undefined {
    const globals = this.#shared.has(name) ? this.#globals : undefined;
    if (globals !== undefined) return globals.set(name, value);
    const cut = cutToOctets(value, this.#bounds.variableOctets);
    this.#octets += Buffer.byteLength(cut) - Buffer.byteLength(this.#values.get(name) ?? '');
    this.#values.set(name, cut);
    if (this.#values.size > this.#bounds.variables) return 'the script has too many variables';
    return this.#octets > this.#bounds.variablesOctets ? 'the variables of the script are too large' : undefined;
  }
}

/** Cuts between characters. */
export function cutToOctets(text: string, most: number): string {
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text;
  return Buffer.from(text)
    .subarray(0, most)
    .toString('utf8')
    .replace(/\ufffd$/u, '');
}
