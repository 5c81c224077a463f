// Port: what clients say and see of lists, which is what REST says and shows (http/routes/standing-lists.ts).
import type { EmailListItem, ListQuery } from '../../../actors/mailbox/protocol.js';

export interface ListLanguage {
  /** `error`: what is wrong with the query of a client, in words. */
  read(query: unknown): { readonly query: ListQuery } | { readonly error: string };
  /** A list item as clients get it. */
  shown(item: EmailListItem): unknown;
  /** In words for the client: why there is no such list. */
  refusal(refusal: string): string;
}
