// Implements a POP3 client: it sends commands and collects replies unchanged.
import { endOfLine, OctetClient } from '../../support/clients/octet-client.js';

export class Pop3Client extends OctetClient {
  /** Sends the command as UTF-8 and returns the first line of its reply. */
  async command(line: string): Promise<string> {
    this.write(Buffer.from(`${line}\r\n`));
    return this.line();
  }

  /** Returns the reply and, when it is +OK, the octets up to the line with the dot, without dot-stuffing. */
  async listing(line: string): Promise<string> {
    const reply = await this.command(line);
    return reply.startsWith('+OK') ? `${reply}\r\n${await this.body()}` : reply;
  }

  /** Returns the rest of a multi-line response after its first line. Lines end in CRLF or a bare LF. */
  async body(): Promise<string> {
    return (await this.take(endOfBody, 3)).replace(/(^|\n)\./g, '$1');
  }

  /** Returns the next line without its end. @throws Closed */
  line(): Promise<string> {
    return this.take(endOfLine, 2);
  }

  /** Returns all octets up to the end of the connection. */
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

/** Returns the index after the line with the dot. */
function endOfBody(text: string): number | undefined {
  if (text.startsWith('.\r\n')) return 3;
  const end = text.indexOf('\r\n.\r\n');
  return end < 0 ? undefined : end + 5;
}
