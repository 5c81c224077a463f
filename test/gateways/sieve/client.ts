// Implements a ManageSieve client: it sends commands and collects replies unchanged.
import { OctetClient } from '../../support/clients/octet-client.js';

export class SieveClient extends OctetClient {
  /** Sends the command as UTF-8 and returns its reply up to the last line, without the last CRLF. */
  async command(line: string): Promise<string> {
    this.write(Buffer.from(`${line}\r\n`));
    return this.reply();
  }

  /** Returns the next reply as UTF-8, without the last CRLF. @throws Closed */
  async reply(): Promise<string> {
    const octets = await this.take(endOfReply, 2);
    return Buffer.from(octets, 'latin1').toString();
  }

  /** Returns all octets up to the end of the connection. */
  async rest(): Promise<string> {
    await this.untilClosed(() => this.more());
    return this.pending;
  }
}

/** Returns a literal that the server does not have to ask for. */
export const literal = (text: string): string => `{${Buffer.byteLength(text)}+}\r\n${text}`;

/** Returns the position after the line with OK, NO or BYE; lines and literals before it belong to the reply. */
function endOfReply(text: string): number | undefined {
  for (let at = 0; ; ) {
    const isLast = /^(?:OK|NO|BYE)\b/.test(text.slice(at, at + 4));
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    let end = lineEnd + 2;
    for (let from = at; ; ) {
      const mark = /\{(\d+)\}$/.exec(text.slice(from, end - 2));
      if (mark === null) break;
      from = end + Number(mark[1]);
      const next = text.indexOf('\r\n', from);
      if (next < 0) return undefined;
      end = next + 2;
    }
    if (isLast) return end;
    at = end;
  }
}
