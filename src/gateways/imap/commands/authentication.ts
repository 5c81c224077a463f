// STARTTLS, LOGIN and AUTHENTICATE (RFC 9051 §6.2), and ENABLE (§6.3.1), which usually follows a login.
import { type Command, command } from '../command.js';
import { bad, type Completion, ok } from '../completion.js';
import { enableArguments } from '../grammar/id.js';
import type { Enabled, Session } from '../session.js';
import type { CommandReader } from '../wire/command-reader.js';

/** Octets of a SASL response: a token in base64. */
const MOST_RESPONSE = 16_384;

export const authenticationCommands: readonly Command[] = [
  command({
    name: 'STARTTLS',
    states: ['not-authenticated'],
    parse: () => {},
    run(session) {
      if (session.isSecure) return bad('The connection has TLS');
      return { ...ok('Begin TLS negotiation now'), sendWith: (line) => session.connection.startTls(line) };
    },
  }),
  command({
    name: 'LOGIN',
    states: ['not-authenticated'],
    parse(reader) {
      const name = reader.astring();
      reader.space();
      return { name, credential: reader.astring() };
    },
    run(session, { name, credential }) {
      const { logins } = session;
      return logins.refusal(session) ?? logins.logIn(session, { names: [name], credential });
    },
  }),
  command({ name: 'AUTHENTICATE', states: ['not-authenticated'], parse: mechanismAndResponse, run: authenticate }),
  command({
    name: 'ENABLE',
    states: ['authenticated', 'selected'],
    parse: enableArguments,
    run(session, names) {
      const before = session.enabled;
      session.enable(...names.flatMap((name) => switchedBy(session, name)));
      const added = [...session.enabled].filter((extension) => !before.has(extension));
      session.output.line(['* ENABLED', ...added].join(' '));
      return ok('ENABLE completed');
    },
  }),
];

interface Begun {
  readonly name: string;
  readonly initial: string | undefined;
}

function mechanismAndResponse(reader: CommandReader): Begun {
  const name = reader.atom();
  return { name, initial: reader.accept(' ') ? reader.atom() : undefined };
}

function authenticate(session: Session, begun: Begun): Promise<Completion> | Completion {
  const { logins } = session;
  const ask = async (challenge: string) => {
    session.output.line(`+ ${challenge}`);
    session.output.flush();
    return (await session.readLine(MOST_RESPONSE)).toString('latin1');
  };
  return logins.refusal(session) ?? logins.authenticate(session, { ...begun, ask });
}

/**
 * What ENABLE switches on, by the name of the capability. METADATA is missing: whoever enables it must be notified of all
 * annotations that change (RFC 5464 §4.4), which only NOTIFY does here.
 */
const SWITCHES: Readonly<Record<string, readonly Enabled[]>> = {
  IMAP4REV2: ['IMAP4REV2'],
  CONDSTORE: ['CONDSTORE'],
  // RFC 7162 §3.2.3.
  QRESYNC: ['QRESYNC', 'CONDSTORE'],
  'UTF8=ACCEPT': ['UTF8=ACCEPT'],
  UIDONLY: ['UIDONLY'],
};

/** `name` is in upper case. A capability that is not offered switches nothing on. */
function switchedBy(session: Session, name: string): readonly Enabled[] {
  const offered = session.capabilities.toUpperCase().split(' ');
  return Object.hasOwn(SWITCHES, name) && offered.includes(name) ? SWITCHES[name]! : [];
}
