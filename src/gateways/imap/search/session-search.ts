// A search of one session's selected mailbox: the common start of SEARCH, SORT and THREAD, and the form of their results.
import { unpackUids } from '../../../actors/mailbox/protocol.js';
import { ActorFault, type ActorFaultCode } from '../../../actors/runtime/errors.js';
import type { SearchTerm } from '../../../mail-format/words/search-text.js';
import { bad, Refused } from '../completion.js';
import { refusalCompletion } from '../faults.js';
import type { SearchKey, SearchReturn } from '../grammar/search.js';
import type { Selected, Session } from '../session.js';
import { BodySearch } from './body-search.js';
import type { ResultForm } from './results.js';
import { Search } from './search.js';
import { SearchPace } from './search-pace.js';

const UNANSWERED: ReadonlySet<ActorFaultCode> = new Set(['overloaded', 'unreachable', 'unsupported']);

/** @throws Error when no mailbox is selected, which the command table prevents */
export function selectedOf({ selected }: Session): Selected {
  if (selected === undefined) throw new Error('no mailbox is selected');
  return selected;
}

/** `saved` are the UIDs of `$`. @throws Refused when the key uses sequence numbers under UIDONLY, or needs too much */
export function beginSearch(session: Session, key: SearchKey, saved = session.savedSearch): Search {
  const { accountId, context } = session;
  const { folderId, view } = selectedOf(session);
  const pace = new SearchPace(session);
  const search = new Search(key, {
    folder: { accountId, folderId },
    view,
    saved,
    messages: context.messages,
    bodies: () =>
      new BodySearch({
        accountId,
        blobs: context.blobs,
        pace,
        byWords: (term, part) => uidsByWords(session, folderId, term, part),
      }),
    results: context.searchResults,
    pace,
    now: Date.now(),
  });
  if (search.demands.hasSequenceNumbers && session.enabled.has('UIDONLY'))
    throw new Refused(bad('UIDONLY is enabled: name messages by UID', 'UIDREQUIRED'));
  // RFC 7162 §3.1: a client that searches by MODSEQ knows mod-sequences.
  if (search.demands.hasModseq) session.enable('CONDSTORE');
  return search;
}

/** Returns undefined when the index cannot answer now: it is behind, or its owner is unreachable. */
async function uidsByWords(
  { accountId, context }: Session,
  folderId: string,
  term: SearchTerm,
  part: 'body' | 'text',
): Promise<Uint32Array | undefined> {
  const terms = [{ ...term, words: [...term.words] }];
  try {
    const { reply, refusal } = await context.mailboxes.of(accountId).ask('searchFolder', { folderId, terms, part });
    if (refusal !== undefined) throw new Refused(refusalCompletion(refusal));
    return unpackUids(reply.uids);
  } catch (error) {
    if (error instanceof ActorFault && UNANSWERED.has(error.code)) return undefined;
    throw error;
  }
}

export function formOf(
  { tag }: Session,
  { columns, demands }: Search,
  isUid: boolean,
  returns: readonly SearchReturn[],
): ResultForm {
  return {
    tag,
    isUid,
    returns,
    numberOf: isUid ? (position) => columns.uids[position]! : (position) => position + 1,
    modseqOf: demands.hasModseq ? (position) => columns.modseqOf(position) : undefined,
  };
}
