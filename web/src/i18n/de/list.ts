// The German texts of the list, the folders and the search.
import type { list as english } from '../en/list.js';
import type { Translation } from '../t.js';

export const list: Translation<typeof english> = {};
