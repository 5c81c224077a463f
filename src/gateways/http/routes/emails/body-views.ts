// Replies that show bodies of messages. Their memory counts for the account until the client has received the reply, so neither many views
// nor slow clients of one account use up the node.

import type { BodyDecoder, ReadRanges, Viewer } from '../../../../message-content/decode/decoder.js';
import type { BlobStore } from '../../../../store/blobs.js';
import { Problem } from '../../problem.js';

/** The caller, as part of a validated request. */
export interface Asker {
  readonly principal: { readonly accountId: string };
  readonly aborted: AbortSignal;
}

export const viewerOf = ({ principal, aborted }: Asker): Viewer => ({
  accountId: principal.accountId,
  signal: aborted,
});

export const rangesOf =
  (blobs: Pick<BlobStore, 'readRanges'>, blob: string): ReadRanges =>
  (ranges, signal) =>
    blobs.readRanges(blob, ranges, signal);

/** `octets`: the raw size of all bodies that are shown. The memory is released at once when `make` throws. */
export async function withRoom<R extends object>(
  decoder: Pick<BodyDecoder, 'room'>,
  octets: number,
  viewer: Viewer,
  make: () => Promise<R>,
): Promise<R & { readonly finished?: () => void }> {
  const finished = await decoder.room(octets, viewer);
  try {
    const reply = await make();
    if (!(reply instanceof Problem)) return { ...reply, finished };
    finished();
    return reply;
  } catch (error) {
    finished();
    throw error;
  }
}
