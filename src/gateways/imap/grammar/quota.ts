// The arguments of SETQUOTA (RFC 9208 §4.1.3). GETQUOTA takes one `astring`, GETQUOTAROOT one name of a mailbox.
import type { CommandReader } from '../wire/command-reader.js';

export interface SetQuotaArguments {
  readonly root: string;
  /** The names are in upper case. */
  readonly resources: readonly { readonly name: string; readonly limit: number }[];
}

export function setQuotaArguments(reader: CommandReader): SetQuotaArguments {
  const root = reader.astring();
  reader.space();
  const resources = reader.list(() => {
    const name = reader.word();
    reader.space();
    return { name, limit: reader.number64() };
  });
  return { root, resources };
}
