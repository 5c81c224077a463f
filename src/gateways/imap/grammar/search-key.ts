// What a message must be to be found (RFC 9051 §6.4.4, and the extensions that add to it).
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
  /** The name in lower case; FROM, TO, CC, BCC and SUBJECT too. An empty text: the field is there. */
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
