// A command that carries messages (APPEND, REPLACE): text and literals by turns, read when the command asks for them.
import { bad, no, Refused } from '../completion.js';
import type { CommandOctets } from './command-octets.js';
import { type CommandReader, CommandSyntaxError, createReader, type ReaderOptions } from './command-reader.js';
import type { LiteralMark } from './literal-mark.js';

export interface StreamedLiteral {
  /** Octets. */
  readonly size: number;
  /** `~{n}`: NUL is allowed. */
  readonly isBinary: boolean;
  /** To be read once, to the end or not. @throws CommandSyntaxError for a NUL that is not allowed; ConnectionEnd */
  readonly chunks: AsyncIterable<Buffer>;
}

export interface CommandStream {
  /**
   * Text up to the next literal of a message, or to the end of the command; first from behind the name and its space. Literals of
   * names of mailboxes and of URLs are in the text. What is left of the literal before is passed over.
   * @throws Refused when these are too large; ConnectionEnd
   */
  text(): Promise<CommandReader>;
  /** The literal behind the text that was read last; undefined at the end of the command. The client is not yet asked for it. */
  readonly next: Omit<LiteralMark, 'from'> | undefined;
  /** Asks the client for that literal, if the client waits to be asked. @throws CommandSyntaxError when there is none */
  literal(): StreamedLiteral;
}

export interface TextLimits {
  /** Octets of all text, literals in it included. */
  readonly text: number;
  /** Octets of a literal in the text. */
  readonly literal: number;
  /** Whether the command may have so many octets in memory from now on. */
  hold(octets: number): boolean;
}

export const TOO_LONG = bad('The command is too long', 'LIMIT');
export const NO_MEMORY = no('Too many unfinished commands, try again later', 'LIMIT');
export const LITERAL_TOO_BIG = bad('The literal is too big', 'TOOBIG');

const MAILBOX_COMES = /^$/;
/** REPLACE names a message before the mailbox. */
const MAILBOX_OF_REPLACE_COMES = /^[\d*]+ $/;
const URL_COMES = /[( ]URL $/i;

export class StreamedCommand implements CommandStream {
  readonly #octets: CommandOctets;
  readonly #limits: TextLimits;
  readonly #options: ReaderOptions;
  readonly #mailboxComes: RegExp;
  /** The first line from behind the name and its space, until it was given out. */
  #first: string | undefined;
  #textOctets = 0;

  constructor(name: string, firstText: string, octets: CommandOctets, limits: TextLimits, options: ReaderOptions) {
    this.#octets = octets;
    this.#limits = limits;
    this.#options = options;
    this.#mailboxComes = name === 'REPLACE' ? MAILBOX_OF_REPLACE_COMES : MAILBOX_COMES;
    this.#first = firstText;
  }

  async text(): Promise<CommandReader> {
    const isFirst = this.#first !== undefined;
    let text = this.#first ?? (await this.#line());
    this.#first = undefined;
    for (;;) {
      const { mark } = this.#octets;
      if (mark === undefined) break;
      const before = text.slice(0, text.lastIndexOf('{') - (mark.isBinary ? 1 : 0));
      const isArgument = !mark.isBinary && ((isFirst && this.#mailboxComes.test(before)) || URL_COMES.test(before));
      if (!isArgument) {
        text = before;
        break;
      }
      if (mark.size > this.#limits.literal) throw new Refused(LITERAL_TOO_BIG);
      this.#count(mark.size);
      if (!this.#limits.hold(text.length + mark.size)) throw new Refused(NO_MEMORY);
      const literal = await this.#octets.wholeLiteral();
      text += `\r\n${literal}${await this.#line()}`;
    }
    this.#count(text.length);
    return createReader(text, this.#options);
  }

  get next(): Omit<LiteralMark, 'from'> | undefined {
    return this.#octets.mark;
  }

  literal(): StreamedLiteral {
    const { mark } = this.#octets;
    if (mark === undefined) throw new CommandSyntaxError('expected a literal');
    const { size, isBinary } = mark;
    const chunks = this.#octets.literal();
    return { size, isBinary, chunks: isBinary ? chunks : withoutNul(chunks) };
  }

  #line(): Promise<string> {
    if (this.#octets.mark !== undefined) throw new Error('the literal before this text was not asked for');
    return this.#octets.line();
  }

  #count(octets: number): void {
    this.#textOctets += octets;
    if (this.#textOctets > this.#limits.text) throw new Refused(TOO_LONG);
  }
}

async function* withoutNul(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    if (chunk.includes(0)) throw new CommandSyntaxError('a literal with NUL must be ~{n}');
    yield chunk;
  }
}
