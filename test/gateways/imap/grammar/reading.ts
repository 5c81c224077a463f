// Runs a grammar function on a text.
import type { CommandReader } from '../../../../src/gateways/imap/wire/command-reader.js';
import { createReader, type ReaderOptions } from '../../../../src/gateways/imap/wire/command-reader.js';

export type Rule<T> = (reader: CommandReader) => T;

/** Reads the whole text, as UTF-8. @throws CommandSyntaxError, Refused */
export function readWhole<T>(rule: Rule<T>, text: string, options?: ReaderOptions): T {
  const reader = createReader(Buffer.from(text, 'utf8'), options);
  const value = rule(reader);
  reader.end();
  return value;
}
