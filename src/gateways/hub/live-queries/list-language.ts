// Port: the queries and items of lists in the form for clients, which is that of REST (http/routes/standing-lists.ts).
import type { EmailListItem, ListQuery } from '../../../actors/mailbox/protocol.js';

export interface ListLanguage {
  /** `error`: the fault of a client's query, in words. */
  read(query: unknown): { readonly query: ListQuery } | { readonly error: string };
  /** A list item in the form for clients. */
  shown(item: EmailListItem): unknown;
  /** The reason, in words for the client, for which the list does not exist. */
  refusal(refusal: string): string;
}
