// What scripts may use: the extensions of Sieve, by the names that IANA has registered.
import { SIEVE_BOUNDS } from './limits.js';

/** The extensions that scripts may require. */
export const SIEVE_EXTENSIONS: readonly string[] = [
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
];

/** The `redirect` actions that a run may carry out. */
export const SIEVE_REDIRECTS = SIEVE_BOUNDS.redirects;
