// The octets of one command on the wire: lines and literals in turn. A literal is requested only when it is needed; unread octets
// of a refused command can be skipped, so that the next command is found.
import { ConnectionEnd } from '../../../net/tcp/connection-end.js';
import type { CommandPort } from './command-port.js';
import { type LiteralMark, literalMark } from './literal-mark.js';

const INVITATION = '+ OK\r\n';

export class CommandOctets {
  /** The literal mark of the last line; undefined when the line ends the command. */
  mark: LiteralMark | undefined;
  readonly #port: CommandPort;
  /** Unread octets of the current literal. */
  #left = 0;
  /** Whether the line after the literal is not yet read. */
  #isInLiteral = false;

  constructor(firstLine: string, port: CommandPort) {
    this.mark = literalMark(firstLine);
    this.#port = port;
  }

  /** Requests and yields the literal of `mark`, piece by piece. The line after it can be read in any case. */
  literal(): AsyncIterable<Buffer> {
    const { mark } = this;
    if (mark === undefined) throw new Error('the command has no literal here');
    if (mark.isSynchronizing) void this.#port.write(INVITATION);
    this.mark = undefined;
    this.#left = mark.size;
    this.#isInLiteral = true;
    return this.#octets();
  }

  /** Returns the literal as text; each character is one octet. */
  async wholeLiteral(): Promise<string> {
    const chunks: string[] = [];
    for await (const chunk of this.literal()) chunks.push(chunk.toString('latin1'));
    return chunks.join('');
  }

  /** Reads the line after the literal, which sets `mark`, and skips the rest of the literal. @throws ConnectionEnd */
  async line(): Promise<string> {
    for await (const _ of this.#octets());
    const line = await this.#port.readLine();
    if (line === undefined) throw new ConnectionEnd('lost');
    this.#isInLiteral = false;
    const text = line.toString('latin1');
    this.mark = literalMark(text);
    return withoutSpaces(text);
  }

  /**
   * Reads up to the end of the command and drops it. The end is also reached where a client waits for a request for a literal.
   * @returns false when there are more than `most` octets, and the end was not reached. @throws ConnectionEnd
   */
  async passOver(most: number): Promise<boolean> {
    let passed = this.#left;
    for (;;) {
      if (passed > most) return false;
      if (this.#isInLiteral) passed += (await this.line()).length;
      const { mark } = this;
      if (mark === undefined || mark.isSynchronizing) return true;
      passed += mark.size;
      this.literal();
    }
  }

  async *#octets(): AsyncGenerator<Buffer> {
    if (this.#left === 0) return;
    for await (const chunk of this.#port.readOctets(this.#left)) {
      this.#left -= chunk.length;
      yield chunk;
    }
  }
}

/** Removes the spaces at the end, which some clients send and which mean nothing there. */
export function withoutSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  return end === line.length ? line : line.slice(0, end);
}
