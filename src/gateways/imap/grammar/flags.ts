// Flags and dates that come with messages (RFC 9051 §9: `flag-list`, `date-time`, `date`).
import type { CommandReader } from '../wire/command-reader.js';

/** In parentheses, as written: system flags with their backslash, and keywords; may be empty. */
export const flagList = (reader: CommandReader): string[] => reader.list(() => reader.flag());
