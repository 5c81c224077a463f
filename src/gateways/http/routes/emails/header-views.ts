// The header of a stored message as details show it: a limited part of it, read from the store.

import {
  NO_VERDICTS,
  type Verdicts,
  verdictsOf,
} from '../../../../mail-format/authentication/authentication-results.js';
import { fieldValue, headerLines } from '../../../../mail-format/header/header-lines.js';
import { headerPairs } from '../../../../mail-format/header/header-pairs.js';
import type { MessageIndex } from '../../../../mail-format/message-index.js';
import type { BlobStore } from '../../../../store/blobs.js';

/** Octets that are read at most; nearly every header is shorter. */
const MOST_OCTETS = 64 * 1024;
/** The results of our checks are within the first octets of this number. */
const RESULTS_OCTETS = 16 * 1024;

interface HeaderView {
  readonly pairs: [name: string, value: string][];
  readonly isCut: boolean;
  /** The results of our MX; `none` for a message into which it has not written its results. */
  readonly verdicts: Verdicts;
}

/** @throws StoreFault */
export async function headerView(
  blobs: Pick<BlobStore, 'read'>,
  blob: string,
  { root }: MessageIndex,
  { hasAuthenticationResults = false, most = MOST_OCTETS } = {},
): Promise<HeaderView> {
  const end = Math.min(root.bodyStart, most);
  const header = end === 0 ? Buffer.alloc(0) : Buffer.from(await blobs.read(blob, 0, end));
  const isCut = end < root.bodyStart;
  // A field that is cut off is not shown.
  const whole = isCut ? header.subarray(0, header.lastIndexOf('\n') + 1) : header;
  const verdicts = hasAuthenticationResults ? verdictsIn(whole) : NO_VERDICTS;
  const pairs = headerPairs(whole);
  return { pairs: isCut ? pairs.slice(0, -1) : pairs, isCut, verdicts };
}

/** @throws StoreFault */
export async function verdictsView(
  blobs: Pick<BlobStore, 'read'>,
  {
    blob,
    hasAuthenticationResults,
  }: { readonly blob: string; readonly hasAuthenticationResults?: boolean | undefined },
  index: MessageIndex,
): Promise<Verdicts> {
  if (hasAuthenticationResults !== true) return NO_VERDICTS;
  return (await headerView(blobs, blob, index, { hasAuthenticationResults, most: RESULTS_OCTETS })).verdicts;
}

/** The first field with this name is ours, because our trace fields precede all fields of the sender. */
function verdictsIn(header: Buffer): Verdicts {
  const field = headerLines(header).find(({ name }) => name === 'authentication-results');
  return field === undefined ? NO_VERDICTS : verdictsOf(fieldValue(field));
}
