// The flags that come with messages (RFC 9051 §9: `flag-list`).
import type { CommandReader } from '../wire/command-reader.js';

/** Reads flags in parentheses, as written: system flags with their backslash, and keywords. The list may be empty. */
export const flagList = (reader: CommandReader): string[] => reader.list(() => reader.flag());
