// Measures how long mail of other accounts takes while one account sends to hosts that never reply to the final dot: 72 emails to 72 such
// domains, then a stream of emails of ten other accounts to healthy hosts, each measured from its submission to its arrival.
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../dev/ports.js';
import { startDnsServer, type Zone } from '../dev/servers/dns-server.js';
import { type BareServer, type RemoteSmtp, startBareServer, startRemoteSmtp } from '../dev/servers/remote-smtp.js';
import { figure, latency } from './support/figures.js';
import { startBenchNode } from './support/node.js';
import { SmtpSender } from './support/smtp-load.js';

const STUCK_DOMAINS = 72;
const STUCK_HOSTS = 24;
const OTHERS = 10;
const MESSAGES = 500;
const EVERY_MS = 30;
/** An email that takes longer (ms) counts as late. */
const LATEST_MS = 150_000;

export async function run(): Promise<void> {
  const port = await freePort();
  const zones: Record<string, Zone> = {};
  const servers: (BareServer | RemoteSmtp)[] = [];
  for (let i = 0; i < STUCK_HOSTS; i++)
    servers.push(await startBareServer(`127.0.3.${i + 1}`, port, neverAnswersTheDot));
  for (let i = 0; i < STUCK_DOMAINS; i++) zones[`stuck${i}.test`] = { A: [`127.0.3.${(i % STUCK_HOSTS) + 1}`] };
  const arrived = new Map<string, number>();
  for (let i = 0; i < OTHERS; i++) {
    zones[`well${i}.test`] = { A: [`127.0.4.${i + 1}`] };
    const behaviour = {
      message: ({ text }: { readonly text: string }) => {
        arrived.set(/^Subject: (.*)\r$/m.exec(text)?.[1] ?? '', performance.now());
        return undefined;
      },
    };
    servers.push(await startRemoteSmtp(`127.0.4.${i + 1}`, port, { behaviour }));
  }
  const dns = await startDnsServer(zones);
  const node = await startBenchNode({
    MANSIO_LOG_LEVEL: 'warn',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(port),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
  });
  try {
    const senders = await Promise.all(
      (await node.createAccounts(OTHERS + 1)).map(async ({ id, email }) => {
        const sender = await SmtpSender.open('127.0.0.1', node.port('submission'));
        await sender.authenticate(email, await node.createKey(id, ['smtp']));
        return async (to: string, subject: string) => {
          const header = `From: <${email}>\r\nTo: <${to}>\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.test>\r\n`;
          const date = 'Date: Sat, 21 Nov 2026 12:00:00 +0000\r\n\r\n';
          if (!(await sender.send(email, [to], `${header}${date}body\r\n.\r\n`))) throw new Error('refused');
        };
      }),
    );
    const [hostile, ...others] = senders;
    for (let i = 0; i < STUCK_DOMAINS; i++) await hostile!(`a@stuck${i}.test`, `stuck${i}`);
    await pause(2_000);
    const open = servers.slice(0, STUCK_HOSTS).reduce((sum, server) => sum + server.open, 0);
    figure('connections that hosts without an answer hold', open, '');
    const sent = new Map<string, number>();
    for (let i = 0; i < MESSAGES; i++) {
      const subject = `well${i}`;
      sent.set(subject, performance.now());
      await others[i % OTHERS]!(`a@well${(i * 7) % OTHERS}.test`, subject);
      await pause(EVERY_MS);
    }
    const until = performance.now() + LATEST_MS;
    while (arrived.size < MESSAGES && performance.now() < until) await pause(100);
    const took = [...sent].map(([subject, at]) => (arrived.get(subject) ?? Number.POSITIVE_INFINITY) - at);
    latency('mail of others, from submission to arrival', took);
    figure('mail of others that has not arrived', MESSAGES - arrived.size, '');
  } finally {
    await node.stop();
    for (const server of servers) await server.close();
    await dns.close();
  }
}

function neverAnswersTheDot(socket: import('node:net').Socket): void {
  socket.write('220 stuck\r\n');
  let inMessage = false;
  socket.setEncoding('latin1').on('data', (text: string) => {
    for (const line of text.split('\r\n').slice(0, -1)) {
      if (inMessage) return;
      inMessage = line === 'DATA';
      socket.write(inMessage ? '354 go\r\n' : '250 ok\r\n');
    }
  });
}
