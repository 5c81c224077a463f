// STARTTLS, LOGIN and AUTHENTICATE (RFC 9051 §6.2), and ENABLE (§6.3.1), which the first commands after a login are.
import {
  beginExchange,
  decodeBase64,
  type Failure,
  failureChallenge,
  type Mechanism,
  mechanismOf,
  type SaslStep,
} from '../../../auth/sasl.js';
import { type Command, command } from '../command.js';
import { bad, type Completion, no, ok, Refused } from '../completion.js';
import { enableArguments } from '../grammar/id.js';
import { logIn, loginRefusal } from '../login.js';
import type { Enabled, Session } from '../session.js';
import type { CommandReader } from '../wire/command-reader.js';

/** Octets of a response of SASL: a token in base64. */
const MOST_RESPONSE = 16_384;
const EMPTY = Buffer.alloc(0);
const MALFORMED = bad('Malformed response');

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
    async run(session, { name, credential }) {
      const refusal = loginRefusal(session);
      if (refusal !== undefined) return refusal;
      return (await logIn(session, { names: [name], credential })).completion;
    },
  }),
  command({ name: 'AUTHENTICATE', states: ['not-authenticated'], parse: exchange, run: authenticate }),
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

interface Exchange {
  readonly mechanism: string;
  readonly initial: string | undefined;
}

function exchange(reader: CommandReader): Exchange {
  const mechanism = reader.atom();
  return { mechanism, initial: reader.accept(' ') ? reader.atom() : undefined };
}

async function authenticate(session: Session, { mechanism: name, initial }: Exchange): Promise<Completion> {
  const refusal = loginRefusal(session);
  if (refusal !== undefined) return refusal;
  const mechanism = mechanismOf(name);
  if (mechanism === undefined) return no('Mechanism not offered', 'CANNOT');
  // RFC 4959 §3: `=` is an initial response that is empty.
  const response = initial === undefined ? undefined : initial === '=' ? EMPTY : decodeBase64(initial);
  if (initial !== undefined && response === undefined) return MALFORMED;
  let step: SaslStep = beginExchange(mechanism, response);
  while (step.kind === 'challenge') step = step.next(await ask(session, step.text));
  if (step.kind === 'malformed') return MALFORMED;
  const { completion, failure } = await logIn(session, step.shown);
  if (failure !== undefined) await sayWhy(session, mechanism, failure);
  return completion;
}

/** Sends the reason of the failure as a challenge; the client's response to it has no meaning (RFC 7628 §3.2.3). */
async function sayWhy(session: Session, mechanism: Mechanism, failure: Failure): Promise<void> {
  const challenge = failureChallenge(mechanism, failure);
  if (challenge !== undefined) await exchangeLine(session, challenge);
}

async function ask(session: Session, challenge: string): Promise<Buffer> {
  const line = await exchangeLine(session, challenge);
  // RFC 9051 §6.2.2.
  if (line === '*') throw new Refused(bad('Authentication cancelled'));
  const response = decodeBase64(line);
  if (response === undefined) throw new Refused(MALFORMED);
  return response;
}

async function exchangeLine(session: Session, challenge: string): Promise<string> {
  session.output.line(`+ ${Buffer.from(challenge).toString('base64')}`);
  session.output.flush();
  return (await session.readLine(MOST_RESPONSE)).toString('latin1');
}

/**
 * By the name of the capability; what is not offered has none. METADATA has none either: whoever enables it must be told of all
 * annotations that change (RFC 5464 §4.4), which here NOTIFY alone does.
 */
const SWITCHES: Readonly<Record<string, readonly Enabled[]>> = {
  IMAP4REV2: ['IMAP4REV2'],
  CONDSTORE: ['CONDSTORE'],
  // RFC 7162 §3.2.3.
  QRESYNC: ['QRESYNC', 'CONDSTORE'],
  'UTF8=ACCEPT': ['UTF8=ACCEPT'],
  UIDONLY: ['UIDONLY'],
};

/** `name`: upper case. */
function switchedBy(session: Session, name: string): readonly Enabled[] {
  const offered = session.capabilities.toUpperCase().split(' ');
  return Object.hasOwn(SWITCHES, name) && offered.includes(name) ? SWITCHES[name]! : [];
}
