// USER and PASS (RFC 1939 §7), AUTH (RFC 5034), STLS (RFC 2595 §4) and UTF8 (RFC 6856 §2).
import type { Pop3Command } from '../command.js';
import { err, list, ok, type Pop3Reply } from '../replies.js';
import type { Pop3Session } from '../session.js';

export const authorizationCommands: readonly Pop3Command[] = [
  {
    name: 'USER',
    states: ['authorization'],
    takes: 'text',
    run(session, [name]) {
      const refusal = session.logins.refusal(session);
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
    run(session, [credential]) {
      const { userName, logins } = session;
      if (userName === undefined) return logins.refusal(session) ?? err('USER comes first');
      session.userName = undefined;
      return logins.logIn(session, { names: [userName], credential: credential! });
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

function authenticate(session: Pop3Session, [name, initial]: readonly string[]): Promise<Pop3Reply> | Pop3Reply {
  const { logins } = session;
  const refusal = logins.refusal(session);
  if (refusal !== undefined) return refusal;
  if (name === undefined) return list('Mechanisms follow', logins.mechanisms);
  const ask = async (challenge: string) => {
    session.output.write(`+ ${challenge}\r\n`);
    return (await session.readLine()).toString('latin1');
  };
  return logins.authenticate(session, { name, initial, ask });
}
