// All German texts; each part of the page has a file of its own.
import { app } from './de/app.js';
import { compose } from './de/compose.js';
import { filters } from './de/filters.js';
import { list } from './de/list.js';
import { message } from './de/message.js';
import { organise } from './de/organise.js';
import { settings } from './de/settings.js';
import { signIn } from './de/sign-in.js';
import type { Translation } from './t.js';

export const de: Translation = {
  ...app,
  ...list,
  ...message,
  ...compose,
  ...organise,
  ...filters,
  ...settings,
  ...signIn,
};
