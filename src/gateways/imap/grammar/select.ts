// The arguments of SELECT and EXAMINE (RFC 9051 §6.3.2, RFC 7162 §3.1.8 and §3.2.5).
import type { CommandReader, NamedMailbox } from '../wire/command-reader.js';
import { knownSet, type SequenceRange } from './sequence-set.js';

export interface ResyncArguments {
  readonly uidValidity: number;
  readonly modseq: number;
  /** UIDs that the client knows; undefined means all that it may know. */
  readonly knownUids: readonly SequenceRange[] | undefined;
  /** Sequence numbers and the UIDs of the same messages. */
  readonly seqMatch:
    | { readonly sequenceNumbers: readonly SequenceRange[]; readonly uids: readonly SequenceRange[] }
    | undefined;
}

export interface SelectArguments {
  readonly mailbox: NamedMailbox;
  readonly condstore: boolean;
  readonly qresync: ResyncArguments | undefined;
}

export function selectArguments(reader: CommandReader): SelectArguments {
  const mailbox = reader.namedMailbox();
  let condstore = false;
  let qresync: ResyncArguments | undefined;
  if (!reader.isAtEnd) {
    reader.space();
    reader.list(() => {
      const word = reader.word();
      if (word === 'CONDSTORE') condstore = true;
      else if (word === 'QRESYNC') qresync = resyncArguments(reader);
      else throw reader.fault('expected CONDSTORE or QRESYNC');
    }, 1);
  }
  return { mailbox, condstore, qresync };
}

function resyncArguments(reader: CommandReader): ResyncArguments {
  reader.expect(' (');
  const uidValidity = reader.nzNumber();
  reader.space();
  const modseq = reader.number64();
  let knownUids: readonly SequenceRange[] | undefined;
  let seqMatch: ResyncArguments['seqMatch'];
  if (reader.accept(' ')) {
    if (!reader.isListNext) knownUids = knownSet(reader);
    if (knownUids === undefined || reader.accept(' ')) seqMatch = sequenceMatch(reader);
  }
  reader.expect(')');
  return { uidValidity, modseq, knownUids, seqMatch };
}

/** `seq-match-data`. */
function sequenceMatch(reader: CommandReader): ResyncArguments['seqMatch'] {
  reader.expect('(');
  const sequenceNumbers = knownSet(reader);
  reader.space();
  const uids = knownSet(reader);
  reader.expect(')');
  return { sequenceNumbers, uids };
}
