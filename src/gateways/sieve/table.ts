// All commands by name.
import type { ManageSieveCommand } from './command.js';
import { authenticationCommands } from './commands/authentication.js';
import { scriptCommands } from './commands/scripts.js';

const ROWS: readonly ManageSieveCommand[] = [...authenticationCommands, ...scriptCommands];

export const table: ReadonlyMap<string, ManageSieveCommand> = new Map(ROWS.map((row) => [row.name, row]));
