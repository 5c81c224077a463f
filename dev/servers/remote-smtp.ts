// Remote mail servers for tests and manual experiments: one over smtp-server with chosen replies, which stores the mail it gets, and a bare
// one for replies that no library would send. Many of them listen on one port of the addresses 127.0.0.2 and up.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

export interface RemoteMessage {
  readonly sender: string;
  readonly recipients: readonly string[];
  /** The parameters of each RCPT. */
  readonly asked: readonly Readonly<Record<string, string | true>>[];
  /** The parameters of MAIL, with names in upper case: `BODY`, `SIZE`, `SMTPUTF8`. */
  readonly parameters: Readonly<Record<string, string | true>>;
  readonly text: string;
  readonly isTls: boolean;
  readonly ehlo: string;
}

/** Replies are complete, such as `451 4.7.1 come back later`; undefined accepts. */
export interface RemoteBehaviour {
  login?(user: string, password: string): string | undefined;
  mail?(sender: string): string | undefined;
  rcpt?(address: string, session: SMTPServerSession): string | undefined;
  /** Called after the message; a promise delays the reply. */
  message?(message: RemoteMessage): string | undefined | Promise<string | undefined>;
  /** True when the connection is cut after the message, without a reply. */
  dropsAfterData?: boolean;
}

export interface RemoteOptions {
  /** In PEM; without it STARTTLS is not offered. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** True when TLS begins with the connection, without STARTTLS. */
  readonly isImplicitTls?: boolean;
  /** True when mail is taken after a login alone; otherwise AUTH is not offered. */
  readonly wantsLogin?: boolean;
  /** In octets; announced by SIZE. */
  readonly size?: number;
  /** The extensions that are not announced. */
  readonly hidden?: readonly ('PIPELINING' | '8BITMIME' | 'SMTPUTF8')[];
  /** True when DSN is offered (RFC 3461). */
  readonly dsn?: boolean;
  readonly behaviour?: RemoteBehaviour;
}

export interface RemoteSmtp {
  readonly address: string;
  readonly messages: readonly RemoteMessage[];
  /** May be changed at any time. */
  readonly behaviour: RemoteBehaviour;
  /** The number of connections so far, and of those that are open. */
  readonly connections: number;
  readonly open: number;
  close(): Promise<void>;
}

interface Refusal extends Error {
  responseCode: number;
}

export async function startRemoteSmtp(address: string, port: number, options: RemoteOptions = {}): Promise<RemoteSmtp> {
  const { tls, isImplicitTls = false, wantsLogin = false, size, hidden = [], behaviour = {} } = options;
  const messages: RemoteMessage[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = new SMTPServer({
    name: `remote-${address}.test`,
    banner: 'ready',
    ...tls,
    ...(size !== undefined && { size }),
    secure: isImplicitTls,
    disabledCommands: [...(wantsLogin ? [] : ['AUTH']), ...(tls !== undefined ? [] : ['STARTTLS'])],
    hidePIPELINING: hidden.includes('PIPELINING'),
    hide8BITMIME: hidden.includes('8BITMIME'),
    hideSMTPUTF8: hidden.includes('SMTPUTF8'),
    hideENHANCEDSTATUSCODES: true,
    hideDSN: options.dsn !== true,
    authOptional: !wantsLogin,
    onAuth({ username, password }, _session, done) {
      const refused = refusal(behaviour.login?.(username ?? '', password ?? ''));
      if (refused === undefined) done(undefined, { user: username ?? '' });
      else done(refused);
    },
    disableReverseLookup: true,
    logger: false,
    onMailFrom: ({ address: sender }, _session, done) => done(refusal(behaviour.mail?.(sender))),
    onRcptTo: ({ address: recipient }, session, done) => done(refusal(behaviour.rcpt?.(recipient, session))),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const message = received(session, Buffer.concat(chunks).toString('utf8'));
        if (behaviour.dropsAfterData === true) {
          for (const socket of sockets) if (socket.remotePort === session.remotePort) socket.destroy();
          return;
        }
        const reply = await behaviour.message?.(message);
        if (reply === undefined) messages.push(message);
        done(refusal(reply), undefined as never);
      });
    },
  } as ConstructorParameters<typeof SMTPServer>[0]);
  server.on('error', () => {});
  server.server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, address, () => resolve());
  });
  return {
    address,
    messages,
    behaviour,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function received(session: SMTPServerSession, text: string): RemoteMessage {
  const { mailFrom, rcptTo } = session.envelope;
  const parameters = mailFrom === false ? {} : (mailFrom.args as Record<string, string | true> | false) || {};
  return {
    sender: mailFrom === false ? '' : mailFrom.address,
    recipients: rcptTo.map(({ address }) => address),
    asked: rcptTo.map(({ args }) => (args || {}) as Record<string, string | true>),
    parameters,
    text,
    isTls: session.secure,
    ehlo: session.hostNameAppearsAs as string,
  };
}

function refusal(reply: string | undefined): Refusal | undefined {
  if (reply === undefined) return undefined;
  return Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) });
}

export interface BareServer {
  readonly address: string;
  readonly connections: number;
  readonly open: number;
  close(): Promise<void>;
}

/** `talk` reads and answers everything; when it does nothing, the server is silent. */
export async function startBareServer(
  address: string,
  port: number,
  talk: (socket: Socket) => void,
): Promise<BareServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    talk(socket);
  }).listen(port, address);
  await once(server, 'listening');
  return {
    address,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

type ScriptedReply = string | ((line: string) => string);

/** Returns an SMTP dialogue with one reply per command verb; `*` matches all other verbs. The message is read when DATA got a 354. */
export function scripted(replies: Readonly<Record<string, ScriptedReply>>): (socket: Socket) => void {
  return (socket) => {
    let text = '';
    let inMessage = false;
    const greeting = replies['greeting'] ?? '220 scripted ESMTP';
    socket.write(`${greeting}\r\n`);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      for (;;) {
        const end = text.indexOf(inMessage ? '\r\n.\r\n' : '\r\n');
        if (end === -1) return;
        const line = text.slice(0, end);
        text = text.slice(end + (inMessage ? 5 : 2));
        const verb = inMessage ? 'message' : line.slice(0, 4).toUpperCase().trim();
        const known = replies[verb] ?? replies['*'] ?? '250 ok';
        const reply = typeof known === 'string' ? known : known(line);
        inMessage = verb === 'DATA' && reply.startsWith('354');
        // The message starts a line, so its end may follow at once.
        if (inMessage) text = `\r\n${text}`;
        socket.write(`${reply}\r\n`);
        if (verb === 'QUIT' || reply.startsWith('421')) socket.end();
      }
    });
  };
}
