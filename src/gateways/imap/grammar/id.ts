// The arguments of ID (RFC 2971 §3.1) and of ENABLE (RFC 9051 §6.3.1).
import type { CommandReader } from '../wire/command-reader.js';

/** RFC 2971 §3.3. */
const MOST_FIELDS = 30;
const LONGEST_NAME = 30;
const LONGEST_VALUE = 1024;

/** Returns what a client says about itself, with names in lower case; undefined for NIL. */
export function idArguments(reader: CommandReader): ReadonlyMap<string, string | null> | undefined {
  if (reader.accept('NIL')) return undefined;
  const fields = new Map<string, string | null>();
  reader.list(() => {
    const name = reader.string().toLowerCase();
    reader.space();
    const value = reader.nstring();
    if (fields.size === MOST_FIELDS) throw reader.fault(`expected no more than ${MOST_FIELDS} fields`);
    if (Buffer.byteLength(name) > LONGEST_NAME || Buffer.byteLength(value ?? '') > LONGEST_VALUE) {
      throw reader.fault(`expected a name of up to ${LONGEST_NAME} octets and a value of up to ${LONGEST_VALUE}`);
    }
    fields.set(name, value);
  });
  return fields;
}

/** Reads one or more capabilities, in upper case, each once. */
export function enableArguments(reader: CommandReader): readonly string[] {
  const capabilities = new Set([reader.atom().toUpperCase()]);
  while (reader.accept(' ')) capabilities.add(reader.atom().toUpperCase());
  return [...capabilities];
}
