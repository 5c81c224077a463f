// A command that carries messages (APPEND, REPLACE): text and literals in turn, read when the command needs them.
import { bad, no, Refused } from '../completion.js';
import type { CommandOctets } from './command-octets.js';
import { type CommandReader, CommandSyntaxError, createReader, type ReaderOptions } from './command-reader.js';
import type { LiteralMark } from './literal-mark.js';

export interface StreamedLiteral {
  /** Octets. */
  readonly size: number;
  /** `~{n}`, which may contain NUL. */
  readonly isBinary: boolean;
  /** May be read once, completely or in part. @throws CommandSyntaxError for a NUL that is not allowed; ConnectionEnd */
  readonly chunks: AsyncIterable<Buffer>;
}

export interface CommandStream {
  /**
   * Returns the text up to the next literal of a message, or to the end of the command; it begins after the name and its space.
   * Literals of mailbox names and URLs are part of the text. Skips the rest of the previous literal.
   * @throws Refused when these are too large; ConnectionEnd
   */
  text(): Promise<CommandReader>;
  /** The literal after the last text; undefined at the end of the command. It has not been requested yet. */
  readonly next: Omit<LiteralMark, 'from'> | undefined;
  /** Requests that literal, if the client waits for a request. @throws CommandSyntaxError when there is none */
  literal(): StreamedLiteral;
}

export interface TextLimits {
  /** Octets of all text, including its literals. */
  readonly text: number;
  /** Octets of a literal in the text. */
  readonly literal: number;
  /** Tells whether the command may hold this many octets in memory from now on. */
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
  /** The first line after the name and its space, until it is returned. */
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
