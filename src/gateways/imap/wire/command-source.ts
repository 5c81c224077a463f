// Reads whole commands from a connection: their lines, their literals and their limits (RFC 9051 §2.2.1, §4.3; decision 0045). A
// command is returned when it is complete, except for those that carry messages: these are returned as a `CommandStream`. Nothing
// is read ahead, so a command may read the following lines from the connection (IDLE, AUTHENTICATE). Spaces at the end of a
// command are dropped. The framer of the listener splits lines: a bare LF ends a line, as in Dovecot, and a line that is too
// long ends the connection.
import { bad, type Completion } from '../completion.js';
import type { ImapLimits } from '../limits.js';
import { type CommandHead, commandHead } from './command-head.js';
import { CommandOctets, withoutSpaces } from './command-octets.js';
import type { CommandPort } from './command-port.js';
import { type CommandReader, createReader, type ReaderOptions } from './command-reader.js';
import {
  type CommandStream,
  LITERAL_TOO_BIG,
  NO_MEMORY,
  StreamedCommand,
  type TextLimits,
  TOO_LONG,
} from './command-stream.js';

export type { CommandPort } from './command-port.js';
export type { CommandStream } from './command-stream.js';

export interface CommandSourceOptions {
  readonly limits: ImapLimits;
  /** Octets of one message: a refused message is skipped up to twice this size. */
  readonly maxMessageSize: number;
  /** Tells whether the command carries messages and may be run now. `name` is in upper case, without UID. */
  isStream(name: string): boolean;
  /** Commands are limited to fewer octets before the login. */
  isLoggedIn(): boolean;
  /** Whether IMAP4rev2 or UTF8=ACCEPT is enabled. */
  isUtf8(): boolean;
  /** Tells whether the command may hold this many octets in memory until its end. Called for commands with literals. */
  hold(octets: number): boolean;
}

interface Received {
  readonly tag: string;
  /** The name in upper case, without UID before it. */
  readonly name: string;
  readonly isUid: boolean;
}

export type ReceivedCommand =
  /** `reader` begins after the name and its space. */
  | (Received & { readonly kind: 'command'; readonly reader: CommandReader })
  | (Received & { readonly kind: 'stream'; readonly stream: CommandStream })
  /** The input is not a command, but reading can continue. `tag` is `*` when there is none. */
  | { readonly kind: 'refused'; readonly tag: string; readonly completion: Completion }
  /** The start of the next command is unknown: the connection must be closed with `* BYE` and this code and text. */
  | { readonly kind: 'lost'; readonly code: string; readonly text: string };

const LOST = { kind: 'lost', code: 'TOOBIG', text: 'A literal is larger than what is passed over' } as const;

/** Undefined means that there are no more commands. */
type NextCommand = ReceivedCommand | undefined;

export class CommandSource {
  readonly #port: CommandPort;
  readonly #options: CommandSourceOptions;
  /** The current command that carries messages, which may have unread octets. */
  #streamed: CommandOctets | undefined;

  constructor(port: CommandPort, options: CommandSourceOptions) {
    this.#port = port;
    this.#options = options;
  }

  /**
   * Returns the next command, at once when all of it is available; undefined when the client has closed its side. First skips what
   * the previous command has left unread. Passes on faults of the port.
   */
  next(): NextCommand | Promise<NextCommand> {
    const streamed = this.#streamed;
    this.#streamed = undefined;
    return streamed === undefined ? this.#read() : this.#readBehind(streamed);
  }

  async #readBehind(streamed: CommandOctets): Promise<NextCommand> {
    return (await streamed.passOver(this.#mostPassedOver)) ? this.#read() : LOST;
  }

  #read(): NextCommand | Promise<NextCommand> {
    const octets = this.#port.readLine();
    return octets instanceof Promise ? octets.then((line) => this.#begin(line)) : this.#begin(octets);
  }

  /** `octets` is the first line of the command. */
  #begin(octets: Buffer | undefined): NextCommand | Promise<NextCommand> {
    if (octets === undefined) return undefined;
    const line = octets.toString('latin1');
    const head = commandHead(line);
    if ('problem' in head) return this.#refuse(head.tag, bad(head.problem), new CommandOctets(line, this.#port));
    const isShort = line.length <= this.#commandOctets;
    const isStream = isShort && this.#options.isStream(head.name);
    if (isShort && !isStream && !line.endsWith('}')) return this.#command(head, withoutSpaces(line));
    const command = new CommandOctets(line, this.#port);
    if (!isShort) return this.#refuse(head.tag, TOO_LONG, command);
    return isStream ? this.#stream(head, line, command) : this.#whole(head, line, command);
  }

  get #commandOctets(): number {
    const { limits } = this.#options;
    return this.#options.isLoggedIn() ? limits.commandOctets : limits.unauthenticatedCommandOctets;
  }

  get #mostPassedOver(): number {
    const { limits, maxMessageSize } = this.#options;
    return this.#options.isLoggedIn() ? 2 * maxMessageSize + limits.commandOctets : limits.commandOctets;
  }

  get #readerOptions(): ReaderOptions {
    return { limits: this.#options.limits, isUtf8: this.#options.isUtf8() };
  }

  async #whole(head: CommandHead, line: string, octets: CommandOctets): Promise<ReceivedCommand> {
    const most = this.#commandOctets;
    const mostOfLiteral = Math.min(most, this.#options.limits.literalOctets);
    let text = line;
    for (;;) {
      const { mark } = octets;
      if (mark === undefined) return this.#command(head, text);
      if (mark.size > mostOfLiteral) return this.#refuse(head.tag, LITERAL_TOO_BIG, octets);
      if (text.length + mark.size > most) return this.#refuse(head.tag, TOO_LONG, octets);
      if (!this.#options.hold(text.length + mark.size)) return this.#refuse(head.tag, NO_MEMORY, octets);
      text += `\r\n${await octets.wholeLiteral()}`;
      text += await octets.line();
      if (text.length > most) return this.#refuse(head.tag, TOO_LONG, octets);
    }
  }

  #command({ tag, name, isUid, from }: CommandHead, text: string): ReceivedCommand {
    return { kind: 'command', tag, name, isUid, reader: createReader(text, this.#readerOptions, from) };
  }

  #stream({ tag, name, isUid, from }: CommandHead, line: string, octets: CommandOctets): ReceivedCommand {
    this.#streamed = octets;
    const limits: TextLimits = {
      text: this.#commandOctets,
      literal: this.#options.limits.literalOctets,
      hold: (octets) => this.#options.hold(octets),
    };
    const stream = new StreamedCommand(name, withoutSpaces(line).slice(from), octets, limits, this.#readerOptions);
    return { kind: 'stream', tag, name, isUid, stream };
  }

  async #refuse(tag: string, completion: Completion, octets: CommandOctets): Promise<ReceivedCommand> {
    if (!(await octets.passOver(this.#mostPassedOver))) return LOST;
    return { kind: 'refused', tag, completion };
  }
}
