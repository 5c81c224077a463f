// What scripts may use: the extensions of Sieve, by the names that IANA has registered.
import { SIEVE_BOUNDS } from './limits.js';

export interface SieveSupport {
  readonly extensions: readonly string[];
}

/** What the interpreter has. */
export const INTERPRETED: SieveSupport = {
  extensions: [
    'body',
    'comparator-i;ascii-casemap',
    'comparator-i;ascii-numeric',
    'comparator-i;octet',
    'copy',
    'date',
    'duplicate',
    'editheader',
    'envelope',
    'ereject',
    'fileinto',
    'imap4flags',
    'include',
    'index',
    'mailbox',
    'reject',
    'relational',
    'special-use',
    'subaddress',
    'vacation',
    'variables',
  ],
};

/** Extensions whose facts the delivery does not know, or whose actions it does not carry out. */
const NOT_DELIVERED = new Set(['editheader']);

/** What scripts of accounts may use: the compiler refuses the rest, so that no script does less than it says. */
export const DELIVERED: SieveSupport = {
  extensions: INTERPRETED.extensions.filter((name) => !NOT_DELIVERED.has(name)),
};

/** The extensions that scripts of accounts may require. */
export const SIEVE_EXTENSIONS = DELIVERED.extensions;

/** The `redirect` actions that a run may carry out. */
export const SIEVE_REDIRECTS = SIEVE_BOUNDS.redirects;
