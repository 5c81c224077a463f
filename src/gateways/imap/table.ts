// All commands by name.
import { capabilitiesOf } from './capabilities.js';
import type { Command } from './command.js';
import { anyStateCommands } from './commands/any-state.js';
import { appendCommands } from './commands/append.js';
import { authenticationCommands } from './commands/authentication.js';
import { compressCommands } from './commands/compress.js';
import { fetchCommands } from './commands/fetch.js';
import { idleCommands } from './commands/idle.js';
import { listCommands } from './commands/list.js';
import { mailboxCommands } from './commands/mailboxes.js';
import { metadataCommands } from './commands/metadata.js';
import { notifyCommands } from './commands/notify.js';
import { placementCommands } from './commands/placement.js';
import { quotaCommands } from './commands/quota.js';
import { searchCommands } from './commands/search.js';
import { selectCommands } from './commands/select.js';
import { storeCommands } from './commands/store.js';

const ROWS: readonly Command[] = [
  ...anyStateCommands,
  ...authenticationCommands,
  ...compressCommands,
  ...selectCommands,
  ...listCommands,
  ...mailboxCommands,
  ...appendCommands,
  ...idleCommands,
  ...notifyCommands,
  ...fetchCommands,
  ...storeCommands,
  ...searchCommands,
  ...placementCommands,
  ...metadataCommands,
  ...quotaCommands,
];

export const table: ReadonlyMap<string, Command> = new Map(ROWS.map((row) => [row.name, row]));

export const capabilities = capabilitiesOf(new Set(table.keys()));
