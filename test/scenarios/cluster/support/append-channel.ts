// Appends messages of the load by IMAP to Archive, flagged: in turn as a literal that waits for the server, and as one that does not (RFC
// 7888).
import net from 'node:net';
import type { TestAccount } from '../../../../dev/node-accounts.js';
import { endOfLine, OctetClient } from '../../../support/clients/octet-client.js';
import { type Channel, type ChannelOptions, type Outgoing, within } from './channel.js';
import { Goodbye, Refused } from './mailing.js';

/** Responses of commands that succeed elsewhere or later (RFC 5530 §3). */
const TEMPORARY = /^NO \[(UNAVAILABLE|INUSE)\]/;

export class AppendChannel implements Channel {
  readonly #client: OctetClient;
  readonly #options: ChannelOptions;
  #tags = 0;

  private constructor(client: OctetClient, options: ChannelOptions) {
    this.#client = client;
    this.#options = options;
  }

  static async open(address: string, options: ChannelOptions, account: TestAccount): Promise<AppendChannel> {
    const [host, port] = address.split(':');
    const socket = net.connect({ host: host!, port: Number(port), noDelay: true });
    const connected = new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    await within(connected, options.answerMs, () => socket.destroy());
    const channel = new AppendChannel(new OctetClient(socket), options);
    try {
      const greeting = await channel.#line();
      if (!greeting.startsWith('* OK')) throw channel.#refusal('connect', greeting.slice(2));
      await channel.#run('LOGIN', `LOGIN "${account.email}" "${account.key}"`);
      return channel;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  async send({ text }: Outgoing): Promise<void> {
    const isSmall = text.length <= 4096;
    const command = `APPEND Archive (\\Flagged) {${text.length}${isSmall ? '+' : ''}}`;
    await this.#run('APPEND', command, text, isSmall);
  }

  close(): void {
    this.#client.close();
  }

  /** Sends a command, with a literal if there is one, and returns when it was answered OK. */
  async #run(name: string, command: string, literal?: string, isUninvited = false): Promise<void> {
    const tag = `a${++this.#tags}`;
    const octets = literal === undefined ? '' : `${literal}\r\n`;
    this.#client.write(`${tag} ${command}\r\n${isUninvited ? octets : ''}`);
    let isInvited = false;
    for (;;) {
      const line = await this.#line();
      if (line.startsWith('+ ') && !isInvited) {
        isInvited = true;
        this.#client.write(octets);
      } else if (line.startsWith('* BYE')) {
        // The server has begun no message, unless it has invited one.
        if (isInvited) throw new Error(`${name} was broken off: ${line}`);
        throw new Goodbye(line);
      } else if (line.startsWith(`${tag} OK`)) return;
      else if (line.startsWith(`${tag} `)) throw this.#refusal(name, line.slice(tag.length + 1));
      else if (!line.startsWith('* ')) throw new Error(`unexpected after ${name}: ${line}`);
    }
  }

  #refusal(after: string, text: string): Refused {
    const code = /^\w+( \[\w+)?/.exec(text)?.[0].replace(' [', ' ') ?? '';
    return new Refused({ node: this.#options.node, code, after, text }, !TEMPORARY.test(text));
  }

  async #line(): Promise<string> {
    return within(this.#client.take(endOfLine, 2), this.#options.answerMs, () => this.#client.close());
  }
}
