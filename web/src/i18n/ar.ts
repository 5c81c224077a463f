// All Arabic texts; each part of the page has a file of its own.
import { app } from './ar/app.js';
import { compose } from './ar/compose.js';
import { filters } from './ar/filters.js';
import { list } from './ar/list.js';
import { message } from './ar/message.js';
import { organise } from './ar/organise.js';
import { settings } from './ar/settings.js';
import { signIn } from './ar/sign-in.js';
import type { Translation } from './t.js';

export const ar: Translation = {
  ...app,
  ...list,
  ...message,
  ...compose,
  ...organise,
  ...filters,
  ...settings,
  ...signIn,
};
