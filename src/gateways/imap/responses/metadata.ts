// Formats METADATA (RFC 5464 §4.4). Responses are binary strings with their line end.
import { astring, mailboxName, nstring } from '../wire/format.js';

export interface MetadataEntry {
  readonly name: string;
  /** Null means that there is no such entry. */
  readonly value: Buffer | null;
}

/** `name` is that of a mailbox; an empty one means the server. */
export function metadataResponse(name: string, entries: readonly MetadataEntry[], isUtf8: boolean): string {
  const values = entries.map((entry) => `${astring(entry.name)} ${valueText(entry.value)}`);
  return `* METADATA ${shown(name, isUtf8)} (${values.join(' ')})\r\n`;
}

/** Lists entries that have changed (RFC 5464 §4.4.2). */
export function changedMetadataResponse(name: string, entries: Iterable<string>, isUtf8: boolean): string {
  return `* METADATA ${shown(name, isUtf8)} ${[...entries].map((entry) => astring(entry)).join(' ')}\r\n`;
}

const shown = (name: string, isUtf8: boolean): string => (name === '' ? '""' : mailboxName(name, isUtf8));

function valueText(value: Buffer | null): string {
  if (value === null || !value.includes(0)) return nstring(value);
  // RFC 5464 §5: a `literal8`, because no other string may contain a NUL.
  return `~{${value.length}}\r\n${value.toString('latin1')}`;
}
