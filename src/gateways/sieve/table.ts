// All commands by name.
import type { SieveCommand } from './command.js';
import { authenticationCommands } from './commands/authentication.js';
import { scriptCommands } from './commands/scripts.js';

const ROWS: readonly SieveCommand[] = [...authenticationCommands, ...scriptCommands];

export const table: ReadonlyMap<string, SieveCommand> = new Map(ROWS.map((row) => [row.name, row]));
