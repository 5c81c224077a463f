// All commands but `require` and `if`, by name.
import { ACTION_COMMANDS } from './actions.js';
import type { Commands } from './command.js';
import { EDIT_COMMANDS } from './edit-header.js';
import { FLAG_COMMANDS } from './flags.js';
import { INCLUDE_COMMANDS } from './include.js';
import { REPLY_COMMANDS } from './replies.js';
import { VARIABLE_COMMANDS } from './variables.js';

export const COMMANDS: Commands = {
  stop: { compile: () => () => 'stop' },
  ...ACTION_COMMANDS,
  ...REPLY_COMMANDS,
  ...FLAG_COMMANDS,
  ...VARIABLE_COMMANDS,
  ...EDIT_COMMANDS,
  ...INCLUDE_COMMANDS,
};
