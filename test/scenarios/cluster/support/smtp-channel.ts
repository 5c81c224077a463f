// Sends messages of the load by SMTP: as another server does, or as a mail program that logs in.
import type { TestAccount } from '../../../../dev/node-accounts.js';
import { SmtpClient } from '../../../support/clients/smtp-client.js';
import { type Channel, type ChannelOptions, type Outgoing, within } from './channel.js';
import { Goodbye, Refused } from './mailing.js';

export class SmtpChannel implements Channel {
  readonly #client: SmtpClient;
  readonly #options: ChannelOptions;

  private constructor(client: SmtpClient, options: ChannelOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** `account` logs in. */
  static async open(address: string, options: ChannelOptions, account?: TestAccount): Promise<SmtpChannel> {
    const connecting = SmtpClient.connect(address);
    const client = await within(
      connecting,
      options.answerMs,
      () =>
        void connecting.then(
          (late) => late.destroy(),
          () => {},
        ),
    );
    const channel = new SmtpChannel(client, options);
    try {
      await channel.#expect('connect', 220);
      await channel.#say('EHLO load.test', 250);
      if (account !== undefined) {
        const plain = Buffer.from(`\0${account.email}\0${account.key}`).toString('base64');
        await channel.#say(`AUTH PLAIN ${plain}`, 235);
      }
      return channel;
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  async send({ from, to, text }: Outgoing): Promise<void> {
    await this.#say(`MAIL FROM:<${from}>`, 250);
    for (const address of to) await this.#say(`RCPT TO:<${address}>`, 250);
    await this.#say('DATA', 354);
    this.#client.write(`${text}.\r\n`);
    await this.#expect('message', 250);
  }

  close(): void {
    this.#client.destroy();
  }

  async #say(line: string, wanted: number): Promise<void> {
    this.#client.write(`${line}\r\n`);
    await this.#expect(line, wanted);
  }

  async #expect(after: string, wanted: number): Promise<void> {
    // Destroying the client ends the wait: a node that hangs counts as one that has vanished.
    const { code, text } = await within(this.#client.reply(), this.#options.answerMs, () => this.#client.destroy());
    if (code === wanted) return;
    // The server sent it before the message began, or while its first command was on the way.
    if (code === 421 && after.startsWith('MAIL ')) throw new Goodbye(text);
    const step = after.startsWith('AUTH ') ? 'AUTH' : after;
    throw new Refused({ node: this.#options.node, code: String(code), after: step, text }, code >= 500);
  }
}
