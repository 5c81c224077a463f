// The conditions of a search for messages (RFC 9051 §6.4.4, and the extensions that add to it).
import type { CalendarDay } from './dates.js';
import type { SequenceSet } from './sequence-set.js';

export type SearchKey =
  | { readonly type: 'all' }
  | { readonly type: 'and'; readonly keys: readonly SearchKey[] }
  | { readonly type: 'or'; readonly left: SearchKey; readonly right: SearchKey }
  | { readonly type: 'not'; readonly key: SearchKey }
  | { readonly type: 'set'; readonly set: SequenceSet; readonly isByUid: boolean }
  /** A system flag with its backslash, or a keyword. */
  | { readonly type: 'flag'; readonly name: string; readonly isSet: boolean }
  /** The name is in lower case, also for FROM, TO, CC, BCC and SUBJECT. An empty text requires only that the field exists. */
  | { readonly type: 'header'; readonly name: string; readonly text: string }
  | { readonly type: 'body' | 'text'; readonly text: string }
  | { readonly type: 'larger' | 'smaller'; readonly octets: number }
  | {
      readonly type: 'day';
      readonly of: 'received' | 'sent' | 'saved';
      readonly compare: 'before' | 'on' | 'since';
      readonly day: CalendarDay;
    }
  /** RFC 5032. */
  | { readonly type: 'older' | 'younger'; readonly seconds: number }
  | { readonly type: 'modseq'; readonly atLeast: number }
  | { readonly type: 'emailId' | 'threadId'; readonly id: string }
  /** RFC 8514 SAVEDATESUPPORTED: every message has a save date. */
  | { readonly type: 'saveDateSupported' };
