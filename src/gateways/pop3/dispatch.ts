// Carries out one command: finds its row, checks state and arguments, runs it and sends the reply.
import { isUtf8 } from 'node:buffer';
import { ConnectionEnd } from '../../net/tcp/connection-end.js';
import { FramingError } from '../../net/tcp/line-framer.js';
import type { Pop3Command } from './command.js';
import { isBug, replyOf } from './faults.js';
import { err, lineOf, type Pop3Reply } from './replies.js';
import type { Pop3Session } from './session.js';

const UNKNOWN = err('Unknown command');
const LOGIN_ENDED = err('The credential is no longer valid', 'AUTH');
const NOT_UTF8 = err('The line is not UTF-8');
const OK: Pop3Reply = { isOk: true, text: '' };
/** The number of lines of a list that are joined into one write. */
const JOINED_LINES = 512;

/** @throws ConnectionEnd, FramingError when nothing more can be read */
export async function dispatch(
  session: Pop3Session,
  table: ReadonlyMap<string, Pop3Command>,
  line: Buffer,
): Promise<void> {
  const began = performance.now();
  const text = isUtf8(line) ? line.toString('utf8') : undefined;
  const space = text?.indexOf(' ') ?? -1;
  const name = (space < 0 ? text : text?.slice(0, space))?.toUpperCase();
  const row = name === undefined ? undefined : table.get(name);
  let reply: Pop3Reply | undefined;
  try {
    if (text === undefined) reply = NOT_UTF8;
    else reply = row === undefined ? UNKNOWN : await carryOut(session, row, space < 0 ? '' : text.slice(space + 1));
  } catch (error) {
    reply = ofError(error, session, row);
  }
  await complete(session, row, began, reply);
}

async function carryOut(session: Pop3Session, row: Pop3Command, rest: string): Promise<Pop3Reply | undefined> {
  if (!row.states.includes(session.state)) {
    return err(session.state === 'authorization' ? 'Log in first' : 'Already logged in');
  }
  const args = argumentsOf(row, rest);
  if (args === undefined) return err('Wrong arguments');
  if (session.isLoggedIn && !(await session.isLoginValid())) {
    session.isOver = true;
    return LOGIN_ENDED;
  }
  return row.run(session, args);
}

/** Returns undefined when there are too few or too many arguments. */
function argumentsOf({ takes }: Pop3Command, rest: string): readonly string[] | undefined {
  if (takes === 'text') return rest === '' ? undefined : [rest];
  const words = rest.split(' ').filter((word) => word !== '');
  const [least, most] = takes;
  return words.length >= least && words.length <= most ? words : undefined;
}

/** @throws ConnectionEnd, FramingError */
function ofError(error: unknown, session: Pop3Session, row: Pop3Command | undefined): Pop3Reply {
  if (error instanceof ConnectionEnd || error instanceof FramingError) throw error;
  session.logFailure(error, row?.name, isBug(error));
  return replyOf(error);
}

/** `reply` is undefined when the command has already written it. */
async function complete(
  session: Pop3Session,
  row: Pop3Command | undefined,
  began: number,
  reply: Pop3Reply = OK,
): Promise<void> {
  const { context, output } = session;
  if (reply.isOk) session.errors = 0;
  else if (++session.errors >= context.limits.errors) session.isOver = true;
  if (reply.sendWith !== undefined) {
    output.flush();
    await reply.sendWith(lineOf(reply));
  } else if (reply !== OK) {
    output.write(lineOf(reply));
    if (reply.lines !== undefined) await writeLines(session, reply.lines);
  }
  context.meter.completed(row?.name ?? 'unknown', reply.isOk ? 'OK' : 'ERR', performance.now() - began);
}

async function writeLines({ output, connection }: Pop3Session, lines: Iterable<string>): Promise<void> {
  let text = '';
  let count = 0;
  for (const line of lines) {
    text += `${line}\r\n`;
    if (++count % JOINED_LINES !== 0) continue;
    output.write(text);
    text = '';
    if (output.ready !== undefined) await output.ready;
    if (connection.isLost) return;
  }
  output.write(`${text}.\r\n`);
}
