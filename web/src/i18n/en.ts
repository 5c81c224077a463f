// All English texts; each part of the page has a file of its own.
import { app } from './en/app.js';
import { compose } from './en/compose.js';
import { filters } from './en/filters.js';
import { list } from './en/list.js';
import { message } from './en/message.js';
import { organise } from './en/organise.js';
import { settings } from './en/settings.js';
import { signIn } from './en/sign-in.js';

export const en = { ...app, ...list, ...message, ...compose, ...organise, ...filters, ...settings, ...signIn } as const;
