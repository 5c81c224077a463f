// All commands by name, and what CAPA lists (RFC 2449 §6): a capability that needs commands is listed only when they are
// in the table.
import type { Pop3Command } from './command.js';
import { anyStateCommands } from './commands/any-state.js';
import { authorizationCommands } from './commands/authorization.js';
import { transactionCommands } from './commands/transaction.js';
import type { Pop3Session } from './session.js';

interface Capability {
  /** Returns undefined while the capability is not offered. */
  readonly line: (session: Pop3Session) => string | undefined;
  readonly commands: readonly string[];
}

const before = (line: (session: Pop3Session) => string) => (session: Pop3Session) =>
  session.state === 'authorization' && session.logins.mayShowCredentials(session) ? line(session) : undefined;
const always = (line: string) => () => line;

const CAPABILITIES: readonly Capability[] = [
  { line: always('TOP'), commands: ['TOP'] },
  { line: always('UIDL'), commands: ['UIDL'] },
  { line: before(() => 'USER'), commands: ['USER', 'PASS'] },
  { line: before(({ logins }) => `SASL ${logins.mechanisms.join(' ')}`), commands: ['AUTH'] },
  {
    line: ({ state, isSecure, isUtf8 }) => (state === 'authorization' && !isSecure && !isUtf8 ? 'STLS' : undefined),
    commands: ['STLS'],
  },
  { line: always('RESP-CODES'), commands: [] },
  { line: always('AUTH-RESP-CODE'), commands: [] },
  { line: always('PIPELINING'), commands: [] },
  { line: always('LOGIN-DELAY 0'), commands: [] },
  { line: always('EXPIRE NEVER'), commands: [] },
  { line: always('UTF8 USER'), commands: ['UTF8', 'USER'] },
  { line: always('LANG'), commands: ['LANG'] },
  // The version is hidden before the login, because it helps to look for servers with known faults.
  {
    line: ({ state, context }) => `IMPLEMENTATION Mansio${state === 'authorization' ? '' : `-${context.version}`}`,
    commands: [],
  },
];

const ROWS: readonly Pop3Command[] = [
  ...anyStateCommands(capabilities),
  ...authorizationCommands,
  ...transactionCommands,
];

export const table: ReadonlyMap<string, Pop3Command> = new Map(ROWS.map((row) => [row.name, row]));

function capabilities(session: Pop3Session): readonly string[] {
  const offered = CAPABILITIES.filter(({ commands }) => commands.every((name) => table.has(name)));
  return offered.flatMap(({ line }) => line(session) ?? []);
}
