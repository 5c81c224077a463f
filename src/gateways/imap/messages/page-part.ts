// A part of a page that is kept or dropped by itself: the facts of the messages, their headers and MIME indexes, or the texts of
// one name that were made from these.
import type { CacheEntry } from './octet-cache.js';

/** Memory of a part beside its content, roughly, with its share of the page. */
const PART_OCTETS = 800;

/**
 * A text is a fraction of the octets that it is made from, which must be read from the store and parsed once more when it is
 * dropped.
 */
const WORTH = { sources: 1, facts: 4, texts: 32 } as const;

export type PartKind = keyof typeof WORTH;

export class PagePart<C extends { readonly octets: number }> implements CacheEntry {
  readonly accountId: string;
  /** Of the page. */
  readonly pageKey: string;
  readonly kind: PartKind;
  /** Of texts; else the kind. */
  readonly name: string;
  readonly content: C;
  /** Of the part among all of the account. */
  readonly key: string;

  constructor(accountId: string, pageKey: string, kind: PartKind, name: string, content: C) {
    this.accountId = accountId;
    this.pageKey = pageKey;
    this.kind = kind;
    this.name = name;
    this.content = content;
    this.key = `${pageKey}/${kind}/${name}`;
  }

  get worth(): number {
    return WORTH[this.kind];
  }

  get octets(): number {
    return PART_OCTETS + this.content.octets;
  }
}
