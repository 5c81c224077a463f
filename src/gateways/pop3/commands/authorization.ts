// USER and PASS (RFC 1939 §7), AUTH (RFC 5034), STLS (RFC 2595 §4) and UTF8 (RFC 6856 §2).
import {
  beginExchange,
  decodeBase64,
  type Failure,
  failureChallenge,
  MECHANISMS,
  type Mechanism,
  mechanismOf,
  type SaslStep,
} from '../../../auth/sasl.js';
import type { Command } from '../command.js';
import { logIn, loginRefusal } from '../login.js';
import { err, list, ok, Refused, type Reply } from '../replies.js';
import type { Session } from '../session.js';

const EMPTY = Buffer.alloc(0);
const MALFORMED = err('Malformed response');

export const authorizationCommands: readonly Command[] = [
  {
    name: 'USER',
    states: ['authorization'],
    takes: 'text',
    run(session, [name]) {
      const refusal = loginRefusal(session);
      if (refusal !== undefined) return refusal;
      session.userName = name!.trim();
      // The same for names that are there and names that are not.
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

async function authenticate(session: Session, [name, initial]: readonly string[]): Promise<Reply> {
  const refusal = loginRefusal(session);
  if (refusal !== undefined) return refusal;
  if (name === undefined) return list('Mechanisms follow', MECHANISMS);
  const mechanism = mechanismOf(name);
  if (mechanism === undefined) return err('Mechanism not offered');
  // RFC 5034 §4: `=` is an initial response that is empty.
  const response = initial === undefined ? undefined : initial === '=' ? EMPTY : decodeBase64(initial);
  if (initial !== undefined && response === undefined) return MALFORMED;
  let step: SaslStep = beginExchange(mechanism, response);
  while (step.kind === 'challenge') step = step.next(await ask(session, step.text));
  if (step.kind === 'malformed') return MALFORMED;
  const { reply, failure } = await logIn(session, step.shown);
  if (failure !== undefined) await sayWhy(session, mechanism, failure);
  return reply;
}

/** Sends the reason of the failure as a challenge; the client's response to it has no meaning (RFC 7628 §3.2.3). */
async function sayWhy(session: Session, mechanism: Mechanism, failure: Failure): Promise<void> {
  const challenge = failureChallenge(mechanism, failure);
  if (challenge !== undefined) await exchangeLine(session, challenge);
}

async function ask(session: Session, challenge: string): Promise<Buffer> {
  const line = await exchangeLine(session, challenge);
  // RFC 5034 §4.
  if (line === '*') throw new Refused(err('Authentication cancelled'));
  const response = decodeBase64(line);
  if (response === undefined) throw new Refused(MALFORMED);
  return response;
}

async function exchangeLine(session: Session, challenge: string): Promise<string> {
  session.output.write(`+ ${Buffer.from(challenge).toString('base64')}\r\n`);
  return (await session.readLine()).toString('latin1');
}
