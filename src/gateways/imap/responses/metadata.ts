// METADATA as it is written (RFC 5464 §4.4). What is returned is a binary string with its end.
import { astring, mailboxName, nstring } from '../wire/format.js';

export interface MetadataEntry {
  readonly name: string;
  /** Null: there is no such entry. */
  readonly value: Buffer | null;
}

/** `name`: of a mailbox, or empty for the server's. */
export function metadataResponse(name: string, entries: readonly MetadataEntry[], isUtf8: boolean): string {
  const values = entries.map((entry) => `${astring(entry.name)} ${valueText(entry.value)}`);
  return `* METADATA ${name === '' ? '""' : mailboxName(name, isUtf8)} (${values.join(' ')})\r\n`;
}

function valueText(value: Buffer | null): string {
  if (value === null || !value.includes(0)) return nstring(value);
  // RFC 5464 §5: a `literal8`, because no other string has a NUL.
  return `~{${value.length}}\r\n${value.toString('latin1')}`;
}
