// The German texts of writing.
import type { compose as english } from '../en/compose.js';
import type { Translation } from '../t.js';

export const compose: Translation<typeof english> = {};
