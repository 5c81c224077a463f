// A relay made only of the libraries, in its own process: smtp-server accepts a message after AUTH, nodemailer signs it and sends it over
// kept connections to the server of its domain, and the client gets its 250 when that server has the message. It has no queue, no store, no
// copy and no log, so it shows what the libraries alone cost. Arguments: password, path of the key (PEM), port of the destinations,
// domain=address, … Its first message to the parent is its port.
import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';

const [password, keyPath = '', port, ...routes] = process.argv.slice(2);
/** The limits of Mansio (src/net/smtp-client/limits.ts). */
const LIMITS = { maxConnections: 5, maxMessages: 100 };

const privateKey = readFileSync(keyPath, 'utf8');
const transports = new Map(
  routes.map((route) => {
    const [domain = '', host] = route.split('=');
    const dkim = { domainName: 'example.test', keySelector: 'bench', privateKey };
    return [domain, createTransport({ pool: true, ...LIMITS, host, port: Number(port), ignoreTLS: true, dkim })];
  }),
);

const server = new SMTPServer({
  allowInsecureAuth: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onAuth({ username, password: given }, _session, done) {
    if (given === password) done(null, { user: username });
    else done(new Error('wrong password'));
  },
  onData(stream, { envelope }, done) {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => {
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
      const to = envelope.rcptTo.map(({ address }) => address);
      const domain = to[0]?.slice(to[0].indexOf('@') + 1) ?? '';
      transports
        .get(domain)!
        .sendMail({ envelope: { from, to }, raw: Buffer.concat(pieces) })
        .then(() => done(), done);
    });
  },
});
const listening = server.listen(0, '127.0.0.1', () => {
  const address = listening.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
process.on('disconnect', () => process.exit());
