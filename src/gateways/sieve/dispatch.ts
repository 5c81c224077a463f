// Carries out one command: finds its row, checks state and arguments, runs it and sends the reply.
import { ConnectionEnd } from '../../net/tcp/connection-end.js';
import { FramingError } from '../../net/tcp/line-framer.js';
import type { ManageSieveCommand } from './command.js';
import type { ReceivedSieveCommand, RefusedInput } from './command-source.js';
import { isBug, replyOf, TOO_LARGE } from './faults.js';
import { bye, lineOf, no, type SieveReply } from './replies.js';
import type { SieveSession } from './session.js';

const UNKNOWN = no('Unknown command');
const WRONG_ARGUMENTS = no('Wrong arguments');
const LOGIN_ENDED = bye('The credential is no longer valid');

const REFUSED_INPUT: Readonly<Record<RefusedInput, SieveReply>> = {
  malformed: no('The command does not follow the grammar, or a string is not UTF-8'),
  'too-large': TOO_LARGE,
  'no-memory': no('The server has no room for this now, try again later', 'TRYLATER'),
};

type Readable = Exclude<ReceivedSieveCommand, { readonly kind: 'lost' }>;

/** @throws ConnectionEnd, FramingError when nothing more can be read */
export async function dispatch(
  session: SieveSession,
  table: ReadonlyMap<string, ManageSieveCommand>,
  received: Readable,
): Promise<void> {
  const began = performance.now();
  const row = table.get(received.name);
  const reply = await replyTo(session, row, received);
  const { context, output } = session;
  const isOk = reply.status === 'OK';
  if (isOk) session.errors = 0;
  else if (++session.errors >= context.limits.errors) session.isOver = true;
  if (reply.sendWith === undefined) output.write((reply.lines ?? '') + lineOf(reply));
  else {
    output.flush();
    await reply.sendWith(lineOf(reply));
  }
  context.meter.completed(row?.name ?? 'unknown', isOk ? 'OK' : 'NO', performance.now() - began);
}

/** @throws ConnectionEnd, FramingError */
async function replyTo(
  session: SieveSession,
  row: ManageSieveCommand | undefined,
  received: Readable,
): Promise<SieveReply> {
  if (received.kind === 'refused') return REFUSED_INPUT[received.reason];
  if (row === undefined) return UNKNOWN;
  if (!row.states.includes(session.state)) {
    return no(session.state === 'unauthenticated' ? 'Log in first' : 'Already logged in');
  }
  const { takes, optional = 0 } = row;
  const { args } = received;
  if (args.length > takes.length || args.length < takes.length - optional) return WRONG_ARGUMENTS;
  if (args.some(({ kind }, i) => kind !== takes[i])) return WRONG_ARGUMENTS;
  try {
    if (session.isLoggedIn && !(await session.isLoginValid())) {
      session.isOver = true;
      return LOGIN_ENDED;
    }
    return await row.run(
      session,
      args.map(({ text }) => text),
    );
  } catch (error) {
    if (error instanceof ConnectionEnd || error instanceof FramingError) throw error;
    session.logFailure(error, row.name, isBug(error));
    return replyOf(error);
  }
}
