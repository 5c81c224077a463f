// A part of a page that is cached and dropped separately: the facts of the messages, their headers and MIME indexes, or the texts
// of one name that were made from these.
import type { CacheEntry } from './octet-cache.js';

/** Approximate memory of a part without its content, including its share of the page. */
const PART_OCTETS = 800;

/**
 * Texts have the highest worth: a text is a fraction of the octets that must be read from the store and parsed again when it is
 * dropped.
 */
const WORTH = { sources: 1, facts: 4, texts: 32 } as const;

export type PartKind = keyof typeof WORTH;

export class PagePart<C extends { readonly octets: number }> implements CacheEntry {
  readonly accountId: string;
  /** The key of the page. */
  readonly pageKey: string;
  readonly kind: PartKind;
  /** The name of texts, otherwise the kind. */
  readonly name: string;
  readonly content: C;
  /** The key of the part within its account. */
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
