// Commands of every state: CAPABILITY, NOOP, LOGOUT (RFC 9051 §6.1), ID (RFC 2971) and CHECK (RFC 3501).
import { type Command, command } from '../command.js';
import { ok } from '../completion.js';
import { idArguments } from '../grammar/id.js';
import type { Session, SessionState } from '../session.js';

const EVERY: readonly SessionState[] = ['not-authenticated', 'authenticated', 'selected'];

const nothing = (): void => {};

export const anyStateCommands: readonly Command[] = [
  command({
    name: 'CAPABILITY',
    states: EVERY,
    parse: nothing,
    run(session) {
      session.output.line(`* CAPABILITY ${session.capabilities}`);
      return ok('CAPABILITY completed');
    },
  }),
  command({ name: 'NOOP', states: EVERY, readsBack: true, parse: nothing, run: () => ok('NOOP completed') }),
  command({ name: 'CHECK', states: ['selected'], readsBack: true, parse: nothing, run: () => ok('CHECK completed') }),
  command({
    name: 'LOGOUT',
    states: EVERY,
    parse: nothing,
    run(session) {
      session.end('Logging out');
      return ok('LOGOUT completed');
    },
  }),
  command({ name: 'ID', states: EVERY, parse: idArguments, run: identify }),
];

function identify(session: Session, fields: ReadonlyMap<string, string | null> | undefined) {
  const { log, remoteAddress, output, context } = session;
  if (fields !== undefined && fields.size > 0) {
    log.debug({ client: Object.fromEntries(fields), remoteAddress }, 'the client has named itself');
  }
  // The version is hidden before the login, because it helps to look for servers with known faults.
  const version = session.state === 'not-authenticated' ? '' : ` "version" "${context.version}"`;
  output.line(`* ID ("name" "Mansio"${version})`);
  return ok('ID completed');
}
