// USER and PASS (RFC 1939 §7), AUTH (RFC 5034), STLS (RFC 2595 §4) and UTF8 (RFC 6856 §2).
import { type EmptyExchange, exchange } from '../../../auth/sasl-exchange.js';
import type { Pop3Command } from '../command.js';
import { logIn, loginRefusal } from '../login.js';
import { err, list, ok, type Pop3Reply } from '../replies.js';
import type { Pop3Session } from '../session.js';

const EMPTY_EXCHANGES: Readonly<Record<EmptyExchange, Pop3Reply>> = {
  notOffered: err('Mechanism not offered'),
  malformed: err('Malformed response'),
  cancelled: err('Authentication cancelled'),
};

export const authorizationCommands: readonly Pop3Command[] = [
  {
    name: 'USER',
    states: ['authorization'],
    takes: 'text',
    run(session, [name]) {
      const refusal = loginRefusal(session);
      if (refusal !== undefined) return refusal;
      session.userName = name!.trim();
      // The reply is the same for existing and unknown names, so that nobody can probe for accounts.
      return ok('Send the password');
    },
  },
  {
    name: 'PASS',
    states: ['authorization'],
    takes: 'text',
    async run(session, [credential]) {
      const { userName } = session;
      if (userName === undefined) return loginRefusal(session) ?? err('USER comes first');
      session.userName = undefined;
      return (await logIn(session, { names: [userName], credential: credential! })).reply;
    },
  },
  { name: 'AUTH', states: ['authorization'], takes: [0, 2], run: authenticate },
  {
    name: 'STLS',
    states: ['authorization'],
    takes: [0, 0],
    run(session) {
      if (session.isSecure) return err('The connection has TLS');
      // RFC 6856 §2.1.
      if (session.isUtf8) return err('STLS comes before UTF8');
      session.userName = undefined;
      return { ...ok('Begin TLS negotiation'), sendWith: (line) => session.connection.startTls(line) };
    },
  },
  {
    name: 'UTF8',
    states: ['authorization'],
    takes: [0, 0],
    run(session) {
      session.isUtf8 = true;
      return ok('UTF8 is enabled');
    },
  },
];

async function authenticate(session: Pop3Session, [name, initial]: readonly string[]): Promise<Pop3Reply> {
  const refusal = loginRefusal(session);
  if (refusal !== undefined) return refusal;
  if (name === undefined) return list('Mechanisms follow', session.context.signIn.mechanisms);
  const ask = async (challenge: string) => {
    session.output.write(`+ ${challenge}\r\n`);
    return (await session.readLine()).toString('latin1');
  };
  const end = await exchange({ name, initial, ask, judge: (shown) => logIn(session, shown) });
  return typeof end === 'string' ? EMPTY_EXCHANGES[end] : end.reply;
}
