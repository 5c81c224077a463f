// AUTHENTICATE, UNAUTHENTICATE, STARTTLS, CAPABILITY, NOOP and LOGOUT (RFC 5804 §2.1–2.4, §2.13, §2.14).
import { capabilities } from '../capabilities.js';
import type { ManageSieveCommand } from '../command.js';
import { lineOf, no, ok, type SieveReply, stringOf } from '../replies.js';
import type { SieveSession, SieveState } from '../session.js';

const ANY: readonly SieveState[] = ['unauthenticated', 'authenticated'];
/** No base64, so the exchange ends. */
const NOT_A_RESPONSE = '!';

export const authenticationCommands: readonly ManageSieveCommand[] = [
  {
    name: 'AUTHENTICATE',
    states: ['unauthenticated'],
    takes: ['string', 'string'],
    optional: 1,
    run: authenticate,
  },
  {
    name: 'UNAUTHENTICATE',
    states: ['authenticated'],
    takes: [],
    run(session) {
      session.leave();
      return ok('Logged out');
    },
  },
  {
    name: 'STARTTLS',
    states: ['unauthenticated'],
    takes: [],
    run(session) {
      if (session.isSecure) return no('The connection has TLS');
      return { ...ok('Begin TLS negotiation now'), sendWith: (line) => startTls(session, line) };
    },
  },
  {
    name: 'CAPABILITY',
    states: ANY,
    takes: [],
    run: (session) => ({ ...ok('These are the capabilities'), lines: capabilities(session) }),
  },
  {
    name: 'NOOP',
    states: ANY,
    takes: ['string'],
    optional: 1,
    run: (_, [tag]) => ok('Done', tag === undefined ? undefined : `TAG ${stringOf(tag)}`),
  },
  {
    name: 'LOGOUT',
    states: ANY,
    takes: [],
    run(session) {
      session.isOver = true;
      return ok('Goodbye');
    },
  },
];

function authenticate(session: SieveSession, [name, initial]: readonly string[]): Promise<SieveReply> | SieveReply {
  const { logins } = session;
  const ask = async (challenge: string) => {
    session.output.write(`${stringOf(challenge)}\r\n`);
    session.output.flush();
    const response = await session.source.string();
    if (typeof response === 'string') return response;
    if (response.refused === 'lost') session.isOver = true;
    return NOT_A_RESPONSE;
  };
  return logins.refusal(session) ?? logins.authenticate(session, { name: name!, initial, ask });
}

/** The capabilities change with TLS, so they are sent again (RFC 5804 §2.2). */
async function startTls(session: SieveSession, line: string): Promise<void> {
  await session.connection.startTls(line);
  session.output.write(capabilities(session) + lineOf(ok('TLS negotiation successful')));
}
