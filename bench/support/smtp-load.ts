// An SMTP sender for load: it does as little work per message as possible, so that the server is measured. Envelope commands are pipelined
// (RFC 2920) as every large sender does; a connection carries many messages.
import { connect, type Socket } from 'node:net';

export interface Load {
  readonly host: string;
  /** The connections are spread over these ports. */
  readonly ports: readonly number[];
  readonly connections: number;
  /** The total number of messages. */
  readonly messages: number;
  /** The size of a message, in octets. */
  readonly size: number;
  /** Returns the recipients of message `i`, which `sender` sends. */
  recipients(i: number, sender: LoadSender): readonly string[];
  /** The texts of the messages in turn; by default all have one text of fifteen different words. */
  readonly texts?: readonly string[];
}

/** A connection of a load. */
export interface LoadSender {
  /** The index of its port in `ports`. */
  readonly target: number;
  /** The port of its own end. */
  readonly localPort: number;
}

export interface LoadResult {
  /** The messages that got a 2xx after DATA. */
  readonly accepted: number;
  readonly seconds: number;
}

export async function smtpLoad(load: Load): Promise<LoadResult> {
  let next = 0;
  let accepted = 0;
  const filler = 'The quick brown fox jumps over the lazy dog; again and again and again.\r\n';
  const text = filler.repeat(Math.ceil(load.size / filler.length)).slice(0, Math.max(load.size - 180, 2));
  const bodies = load.texts?.map((own) => `${own}\r\n.\r\n`) ?? [`${text.slice(0, text.lastIndexOf('\n') + 1)}.\r\n`];
  const senders = await Promise.all(
    Array.from({ length: load.connections }, (_, i) => SmtpSender.open(load.host, load.ports[i % load.ports.length]!)),
  );
  const started = performance.now();
  await Promise.all(
    senders.map(async (sender, n) => {
      const from = { target: n % load.ports.length, localPort: sender.localPort };
      while (next < load.messages) {
        const i = next++;
        const header =
          `From: Sender ${i} <sender@remote.test>\r\nTo: you@example.test\r\nSubject: Load message ${i}\r\n` +
          `Message-ID: <${i}.${started}@remote.test>\r\nDate: Sat, 21 Nov 2026 12:00:00 +0000\r\n\r\n`;
        if (await sender.send('sender@remote.test', load.recipients(i, from), header + bodies[i % bodies.length]!))
          accepted++;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  for (const sender of senders) sender.close();
  return { accepted, seconds };
}

export class SmtpSender {
  readonly #socket: Socket;
  #text = '';
  #codes: string[] = [];
  #wanted = 0;
  #wake: (() => void) | undefined;
  #broken: Error | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => this.#receive(text));
    const broken = (error?: Error) => {
      this.#broken = error ?? new Error(`connection closed after ${this.#text}`);
      this.#wake?.();
    };
    socket.on('error', broken);
    socket.on('close', () => broken());
  }

  static async open(host: string, port: number): Promise<SmtpSender> {
    const sender = new SmtpSender(connect({ host, port }));
    await sender.#replies(1);
    sender.#socket.write('EHLO load.test\r\n');
    await sender.#replies(1);
    return sender;
  }

  get localPort(): number {
    return this.#socket.localPort ?? 0;
  }

  /** Logs in by AUTH PLAIN. */
  async authenticate(name: string, password: string): Promise<void> {
    this.#socket.write(`AUTH PLAIN ${Buffer.from(`\0${name}\0${password}`).toString('base64')}\r\n`);
    const [code] = await this.#replies(1);
    if (code !== '235') throw new Error(`AUTH refused: ${code}`);
  }

  /** Returns true when the message was accepted; `sent` is called when its last octet is written. */
  async send(from: string, to: readonly string[], message: string | Uint8Array, sent?: () => void): Promise<boolean> {
    const rcpt = to.map((address) => `RCPT TO:<${address}>\r\n`).join('');
    this.#socket.write(`MAIL FROM:<${from}>\r\n${rcpt}DATA\r\n`);
    const codes = await this.#replies(to.length + 2);
    if (codes[codes.length - 1] !== '354') throw new Error(`DATA refused: ${codes}`);
    this.#socket.write(message);
    sent?.();
    return (await this.#replies(1))[0]!.startsWith('2');
  }

  close(): void {
    this.#socket.destroy();
  }

  async #replies(count: number): Promise<string[]> {
    this.#wanted = count;
    while (this.#codes.length < count) {
      if (this.#broken !== undefined) throw this.#broken;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#codes.splice(0, count);
  }

  #receive(text: string): void {
    this.#text += text;
    for (let end = this.#text.indexOf('\n'); end >= 0; end = this.#text.indexOf('\n')) {
      if (this.#text[3] !== '-') this.#codes.push(this.#text.slice(0, 3));
      this.#text = this.#text.slice(end + 1);
    }
    if (this.#codes.length >= this.#wanted) this.#wake?.();
  }
}
