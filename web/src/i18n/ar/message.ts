// The Arabic texts of the message view.
import type { message as english } from '../en/message.js';
import type { Translation } from '../t.js';

export const message: Translation<typeof english> = {};
