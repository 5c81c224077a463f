// The German texts of the settings.
import type { settings as english } from '../en/settings.js';
import type { Translation } from '../t.js';

export const settings: Translation<typeof english> = {};
