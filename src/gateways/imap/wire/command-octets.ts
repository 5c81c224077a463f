// The octets of one command on the wire: lines and literals by turns. Literals are asked for only when they are wanted; what a
// refused command leaves unread can be passed over, so that the next command is found behind it.
import { ConnectionEnd } from '../../tcp/connection-end.js';
import type { CommandPort } from './command-port.js';
import { type LiteralMark, literalMark } from './literal-mark.js';

const INVITATION = '+ OK\r\n';

export class CommandOctets {
  /** Behind the line that was read last; undefined when the line ends the command. */
  mark: LiteralMark | undefined;
  readonly #port: CommandPort;
  /** Octets of the literal under way that are not yet read. */
  #left = 0;
  /** The line behind the literal is not yet read. */
  #isInLiteral = false;

  constructor(firstLine: string, port: CommandPort) {
    this.mark = literalMark(firstLine);
    this.#port = port;
  }

  /** The literal of `mark`, piece by piece; the client is asked for it at once. The line behind it can be read in any case. */
  literal(): AsyncIterable<Buffer> {
    const { mark } = this;
    if (mark === undefined) throw new Error('the command has no literal here');
    if (mark.isSynchronizing) void this.#port.write(INVITATION);
    this.mark = undefined;
    this.#left = mark.size;
    this.#isInLiteral = true;
    return this.#octets();
  }

  /** An octet a character. */
  async wholeLiteral(): Promise<string> {
    const chunks: string[] = [];
    for await (const chunk of this.literal()) chunks.push(chunk.toString('latin1'));
    return chunks.join('');
  }

  /** The line behind the literal; `mark` is that line's then. What is left of the literal is passed over. @throws ConnectionEnd */
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
   * Reads up to the end of the command and forgets it. A client that waits to be asked for a literal has ended the command.
   * @returns false when there is more than `most` octets, and the end was not reached. @throws ConnectionEnd
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

/** Without the spaces at its end, which mean nothing there; some clients send them. */
export function withoutSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  return end === line.length ? line : line.slice(0, end);
}
