// What actions do to emails, as data: overlays show it, the queue sends it, and steps that take an action back are made of it.

/** What an action does to each of its emails. Folders are ids or roles. */
export type Change =
  | { readonly kind: 'mark'; readonly isRead: boolean }
  | { readonly kind: 'flag'; readonly isFlagged: boolean }
  | { readonly kind: 'move'; readonly to: string; readonly from?: string | undefined }
  /** `from`: emails that are in none of these folders stay. */
  | { readonly kind: 'delete'; readonly from?: readonly string[] | undefined }
  | { readonly kind: 'label' | 'unlabel'; readonly labelId: string }
  /** Into a further folder. */
  | { readonly kind: 'copy'; readonly to: string };
