// Implements a client that speaks the protocol of one row of the table.
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { LineClient } from './line-client.js';
import type { LoginRow, ProtocolRow } from './protocol-row.js';

export interface ConversationOptions {
  /** A PROXY header that is sent first. */
  readonly opening?: Uint8Array;
  readonly tls?: ConnectionOptions;
}

export class Conversation {
  readonly #row: ProtocolRow;
  readonly #client: LineClient;

  private constructor(row: ProtocolRow, client: LineClient) {
    this.#row = row;
    this.#client = client;
  }

  get client(): LineClient {
    return this.#client;
  }

  /** Connects without reading; uses TLS where the protocol has it from the start. @throws when the handshake fails */
  static async connect(row: ProtocolRow, port: number, options: ConversationOptions = {}): Promise<Conversation> {
    const client = await LineClient.connect(port);
    if (options.opening !== undefined) client.write(options.opening);
    if (row.implicitTls) await client.secure(options.tls);
    return new Conversation(row, client);
  }

  /** Connects, reads the greeting and says hello. @throws when there is no greeting */
  static async begin(row: ProtocolRow, port: number, options: ConversationOptions = {}): Promise<Conversation> {
    const conversation = await Conversation.connect(row, port, options);
    const greeting = await conversation.client.line();
    if (greeting === undefined || !row.greeting.test(greeting)) throw new Error(`no greeting: ${greeting}`);
    if (row.greetsInReply === true) await conversation.reply();
    await conversation.hello();
    return conversation;
  }

  /** Opens TLS, from the start or by STARTTLS. */
  static async secured(row: ProtocolRow, port: number, tls: ConnectionOptions = {}): Promise<TLSSocket> {
    const client = await LineClient.connect(port);
    if (!row.implicitTls) {
      await client.line();
      const conversation = new Conversation(row, client);
      if (row.greetsInReply === true) await conversation.reply();
      await conversation.hello();
      const reply = await conversation.say(row.startTls);
      if (!row.goAhead.test(reply)) throw new Error(`no TLS: ${reply}`);
    }
    return client.secure(tls);
  }

  /** Begins the handshake that STARTTLS has granted, and reads the greeting that follows it. */
  async secure(): Promise<void> {
    await this.client.secure();
    if (this.#row.greetsInReply === true) await this.reply();
  }

  async hello(): Promise<void> {
    if (this.#row.hello !== undefined) await this.say(this.#row.hello);
  }

  /** Returns the last line of the reply, or of the connection when it ends before. */
  async say(command: string): Promise<string> {
    this.client.write(`${command}\r\n`);
    return (await this.reply()).at(-1) ?? '';
  }

  /** Returns the lines of the next reply. */
  async reply(): Promise<readonly string[]> {
    const lines: string[] = [];
    for (;;) {
      const line = await this.client.line();
      if (line === undefined) return lines;
      lines.push(line);
      if (this.#row.isLast(line)) return lines;
    }
  }

  logIn({ command }: LoginRow, name: string, key: string): Promise<string> {
    return this.say(command(name, key));
  }
}
