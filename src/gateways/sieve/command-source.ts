// Reads whole commands from a connection: their lines, their literals and their limits (RFC 5804 §4). Nothing is read ahead, so the octets
// after a command belong to the next one, or to TLS. The framer of the listener splits lines.
import { ConnectionEnd } from '../../net/tcp/connection-end.js';
import { type SieveArgument, type SieveLiteral, scanArguments, textOf } from './arguments.js';

/** The connection of a session. */
export interface SieveInput {
  /** Undefined when the client has closed its side. @throws ConnectionEnd, FramingError */
  readLine(): Buffer | undefined | Promise<Buffer | undefined>;
  /** @throws ConnectionEnd */
  readOctets(length: number): AsyncIterable<Buffer>;
}

export interface SieveSourceOptions {
  /** Octets of the next command with its literals. */
  commandOctets(): number;
  /** Octets of a literal that is refused and passed over. */
  readonly skippedOctets: number;
  /** Tells whether the command may hold this many octets in memory until its end. Called for commands with literals. */
  hold(octets: number): boolean;
}

/** `malformed`: not the grammar, or not UTF-8. `too-large`: a literal. `no-memory`: now. */
export type RefusedInput = 'malformed' | 'too-large' | 'no-memory';

export type ReceivedSieveCommand =
  | {
      readonly kind: 'command';
      /** In upper case. */
      readonly name: string;
      readonly args: readonly SieveArgument[];
    }
  /** `name`: in upper case, '' when there is none. */
  | { readonly kind: 'refused'; readonly name: string; readonly reason: RefusedInput }
  /** The start of the next command is unknown: the connection must be closed. */
  | { readonly kind: 'lost' };

type Values = readonly SieveArgument[] | RefusedInput | 'lost';

const NAME = /^[a-z]+(?= |$)/i;
/** No command has more. */
const MOST_VALUES = 16;

export class SieveCommandSource {
  readonly #port: SieveInput;
  readonly #options: SieveSourceOptions;

  constructor(port: SieveInput, options: SieveSourceOptions) {
    this.#port = port;
    this.#options = options;
  }

  /** Undefined when the client has closed its side. Passes on faults of the port. */
  async next(): Promise<ReceivedSieveCommand | undefined> {
    const octets = await this.#port.readLine();
    if (octets === undefined) return undefined;
    const line = octets.toString('latin1');
    const name = NAME.exec(line)?.[0] ?? '';
    const values = await this.#values(line.slice(name.length), name === '');
    if (values === 'lost') return { kind: 'lost' };
    const command = { name: name.toUpperCase() };
    return typeof values === 'string'
      ? { kind: 'refused', ...command, reason: values }
      : { kind: 'command', ...command, args: values };
  }

  /** Reads a line that is one string: a response of a SASL exchange. @throws ConnectionEnd, FramingError */
  async string(): Promise<string | { readonly refused: RefusedInput | 'lost' }> {
    const octets = await this.#port.readLine();
    if (octets === undefined) throw new ConnectionEnd('lost');
    const values = await this.#values(` ${octets.toString('latin1')}`, false);
    if (typeof values === 'string') return { refused: values };
    const [value] = values;
    return values.length === 1 && value?.kind === 'string' ? value.text : { refused: 'malformed' };
  }

  /** Reads the values of a command, whose first line is given from behind the name. */
  async #values(first: string, isMalformed: boolean): Promise<Values> {
    const all: SieveArgument[] = [];
    let refused: RefusedInput | undefined = isMalformed ? 'malformed' : undefined;
    let held = first.length;
    for (let line = first; ; ) {
      const { values, mark } = scanArguments(line);
      if (values === undefined || all.length + values.length >= MOST_VALUES) refused ??= 'malformed';
      else all.push(...values);
      if (mark === undefined) return refused ?? all;
      if (mark.isSynchronizing) return 'lost';
      held += mark.size;
      refused ??= this.#refusal(held);
      if (refused !== undefined && mark.size > this.#options.skippedOctets) return 'lost';
      const literal = await this.#literal(mark, refused === undefined);
      const text = literal && textOf(literal);
      if (text === undefined) refused ??= 'malformed';
      else all.push({ kind: 'string', text });
      line = await this.#nextLine();
      held += line.length;
    }
  }

  #refusal(octets: number): RefusedInput | undefined {
    if (octets > this.#options.commandOctets()) return 'too-large';
    return this.#options.hold(octets) ? undefined : 'no-memory';
  }

  /** Undefined when the literal is passed over. */
  async #literal({ size }: SieveLiteral, isKept: boolean): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.#port.readOctets(size)) if (isKept) chunks.push(Buffer.from(chunk));
    return isKept ? Buffer.concat(chunks) : undefined;
  }

  async #nextLine(): Promise<string> {
    const line = await this.#port.readLine();
    if (line === undefined) throw new ConnectionEnd('lost');
    return line.toString('latin1');
  }
}
