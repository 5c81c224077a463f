// Commands about the messages of the maildrop (RFC 1939 §5 and §7), and QUIT (§4 and §6).
import type { Pop3Command } from '../command.js';
import { DotStuffing, TopOfMessage } from '../dot-stuffing.js';
import type { Maildrop, MaildropMessage } from '../maildrop.js';
import { err, LOCK_LOST, lineOf, list, ok, type Pop3Reply, RefusedCommand } from '../replies.js';
import type { Pop3Session } from '../session.js';

const NO_SUCH_MESSAGE = err('No such message');
const GONE = err('The message is gone');

export const transactionCommands: readonly Pop3Command[] = [
  {
    name: 'STAT',
    states: ['transaction'],
    takes: [0, 0],
    run({ maildrop }) {
      const { count, octets } = maildrop.drop;
      return ok(`${count} ${octets}`);
    },
  },
  {
    name: 'LIST',
    states: ['transaction'],
    takes: [0, 1],
    run({ maildrop }, [argument]) {
      if (argument !== undefined) return ok(scanListing(messageOf(maildrop, argument)));
      const { count, octets } = maildrop.drop;
      return list(`${count} messages (${octets} octets)`, eachOf(maildrop, scanListing));
    },
  },
  {
    name: 'UIDL',
    states: ['transaction'],
    takes: [0, 1],
    run({ maildrop }, [argument]) {
      const uniqueId = ({ number }: MaildropMessage) => `${number} ${maildrop.idOf(number)}`;
      if (argument !== undefined) return ok(uniqueId(messageOf(maildrop, argument)));
      return list('Unique ids follow', eachOf(maildrop, uniqueId));
    },
  },
  {
    name: 'RETR',
    states: ['transaction'],
    takes: [1, 1],
    run: (session, [argument]) => send(session, messageOf(session.maildrop, argument!)),
  },
  {
    name: 'TOP',
    states: ['transaction'],
    takes: [2, 2],
    run(session, [argument, lines]) {
      const message = messageOf(session.maildrop, argument!);
      return send(session, message, new TopOfMessage(numberOf(lines!)));
    },
  },
  {
    name: 'DELE',
    states: ['transaction'],
    takes: [1, 1],
    run({ maildrop }, [argument]) {
      maildrop.delete(messageOf(maildrop, argument!).number);
      return ok('Marked for deletion');
    },
  },
  {
    name: 'RSET',
    states: ['transaction'],
    takes: [0, 0],
    run({ maildrop, reader }) {
      maildrop.reset();
      // Messages that were marked as deleted were skipped by the read-ahead.
      reader.drop();
      return ok('No message is marked for deletion');
    },
  },
  { name: 'NOOP', states: ['transaction'], takes: [0, 0], run: () => ok('Nothing done') },
  { name: 'QUIT', states: ['authorization', 'transaction'], takes: [0, 0], run: quit },
];

function* eachOf(maildrop: Maildrop, lineOf: (message: MaildropMessage) => string): Generator<string> {
  for (const message of maildrop.messages()) yield lineOf(message);
}

function scanListing({ number, size }: MaildropMessage): string {
  return `${number} ${size}`;
}

/** @throws Refused */
function messageOf(maildrop: Maildrop, argument: string): MaildropMessage {
  const message = maildrop.at(numberOf(argument));
  if (message === undefined) throw new RefusedCommand(NO_SUCH_MESSAGE);
  return message;
}

/** @throws Refused */
function numberOf(argument: string): number {
  if (!/^\d+$/.test(argument)) throw new RefusedCommand(err('A number is expected'));
  return Number(argument);
}

/** Writes the message, or only its top, as the reply. */
async function send(
  session: Pop3Session,
  message: MaildropMessage,
  top?: TopOfMessage,
): Promise<Pop3Reply | undefined> {
  const { reader, context } = session;
  const read = await reader.read(message);
  if (read === undefined) return GONE;
  const { output } = session;
  output.write(lineOf(ok(top === undefined ? `${message.size} octets` : 'The top of the message follows')));
  const stuffing = new DotStuffing();
  let sent = 0;
  const write = (piece: Uint8Array): void => {
    const octets = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const wanted = top === undefined ? octets : top.wanted(octets);
    sent += wanted.length;
    for (const stuffed of stuffing.stuffed(wanted)) output.write(stuffed);
  };
  if (read instanceof Uint8Array) write(read);
  else {
    try {
      for await (const piece of read) {
        write(piece);
        output.flush();
        if (output.ready !== undefined) await output.ready;
        if (session.connection.isLost || top?.isOver === true) break;
      }
    } catch (error) {
      // The connection is cut, so that the client does not take a part of the message for the whole.
      session.log.warn({ err: error, accountId: session.accountId }, 'a message could not be read to its end');
      session.connection.destroy();
      return undefined;
    }
  }
  output.write(stuffing.end);
  context.meter.retrieved(sent);
  return undefined;
}

async function quit(session: Pop3Session): Promise<Pop3Reply> {
  session.isOver = true;
  if (session.state === 'authorization') return ok('Bye');
  const { maildrop, context } = session;
  session.isQuitting = true;
  const { deletedCount } = maildrop;
  if (deletedCount === 0) {
    await maildrop.close();
    return ok('Bye');
  }
  if (!(await maildrop.quit())) return LOCK_LOST;
  context.meter.removed(deletedCount);
  return ok(`${deletedCount} messages deleted, bye`);
}
