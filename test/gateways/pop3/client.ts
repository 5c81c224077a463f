// A client of POP3: sends commands, collects replies as they came.
import { endOfLine, OctetClient } from '../../support/octet-client.js';

export class Pop3Client extends OctetClient {
  /** The first line of the reply; the command as UTF-8. */
  async command(line: string): Promise<string> {
    this.write(Buffer.from(`${line}\r\n`));
    return this.line();
  }

  /** The reply and, when it is +OK, the octets up to the line with the dot, dots taken off again. */
  async listing(line: string): Promise<string> {
    const reply = await this.command(line);
    return reply.startsWith('+OK') ? `${reply}\r\n${await this.body()}` : reply;
  }

  /** The octets of a multi-line response whose first line was read. Lines end in CRLF, and a bare LF ends one too. */
  async body(): Promise<string> {
    return (await this.take(endOfBody, 3)).replace(/(^|\n)\./g, '$1');
  }

  /** The next line without its end. @throws Closed */
  line(): Promise<string> {
    return this.take(endOfLine, 2);
  }

  /** All octets up to the end of the connection. */
  async rest(): Promise<string> {
    await this.untilClosed(() => this.more());
    return this.pending;
  }

  async startTls(): Promise<void> {
    const reply = await this.command('STLS');
    if (!reply.startsWith('+OK')) throw new Error(reply);
    await this.secure();
  }
}

/** Behind the line with the dot. */
function endOfBody(text: string): number | undefined {
  if (text.startsWith('.\r\n')) return 3;
  const end = text.indexOf('\r\n.\r\n');
  return end < 0 ? undefined : end + 5;
}
