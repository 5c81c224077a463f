// The arguments of CREATE and RENAME (RFC 9051 §6.3.4 and §6.3.6, RFC 6154 §3).
import type { CommandReader, NamedMailbox } from '../wire/command-reader.js';

export interface CreateArguments {
  readonly mailbox: NamedMailbox;
  /** Special uses with their backslash, as written. */
  readonly uses: readonly string[];
}

export interface RenameArguments {
  readonly from: string;
  readonly to: NamedMailbox;
}

export function createArguments(reader: CommandReader): CreateArguments {
  const mailbox = reader.namedMailbox();
  const uses: string[] = [];
  if (!reader.isAtEnd) {
    reader.space();
    reader.list(() => {
      reader.expect('USE ');
      uses.push(...reader.list(() => useAttribute(reader)));
    }, 1);
  }
  return { mailbox, uses };
}

export function renameArguments(reader: CommandReader): RenameArguments {
  const from = reader.mailbox();
  reader.space();
  return { from, to: reader.namedMailbox() };
}

function useAttribute(reader: CommandReader): string {
  if (!reader.isNext('\\')) throw reader.fault('expected a special use such as \\Sent');
  return reader.flag();
}
