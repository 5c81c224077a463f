// The arguments of STORE (RFC 9051 §6.4.6, RFC 7162 §3.1.3).
import type { CommandReader } from '../wire/command-reader.js';
import { flagList } from './flags.js';
import { type SequenceSet, sequenceSet } from './sequence-set.js';

export interface StoreArguments {
  readonly set: SequenceSet;
  readonly mode: 'add' | 'remove' | 'replace';
  readonly isSilent: boolean;
  /** System flags with their backslash, and keywords, both as written. */
  readonly flags: readonly string[];
  readonly unchangedSince: number | undefined;
}

export function storeArguments(reader: CommandReader): StoreArguments {
  const set = sequenceSet(reader);
  reader.space();
  const unchangedSince = modifier(reader);
  const mode = reader.accept('+') ? 'add' : reader.accept('-') ? 'remove' : 'replace';
  reader.expect('FLAGS');
  const isSilent = reader.accept('.SILENT');
  reader.space();
  const flags = reader.isListNext ? flagList(reader) : bareFlags(reader);
  return { set, mode, isSilent, flags, unchangedSince };
}

function modifier(reader: CommandReader): number | undefined {
  if (!reader.isListNext) return undefined;
  let unchangedSince: number | undefined;
  reader.list(() => {
    reader.expect('UNCHANGEDSINCE ');
    // 0 matches only a flag that was never set.
    unchangedSince = reader.number64();
  }, 1);
  reader.space();
  return unchangedSince;
}

function bareFlags(reader: CommandReader): string[] {
  const flags = [reader.flag()];
  while (reader.accept(' ')) flags.push(reader.flag());
  return flags;
}
