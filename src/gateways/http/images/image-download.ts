// Downloads one image for the image proxy, whole, because only then is it known that it is small enough and arrives in time. The memory is
// charged to the account until the client has the image.
import { KeyedLimiter, type Reservation } from '../../../concurrency/keyed-limiter.js';
import { dynamicShare } from '../../../concurrency/share-policies.js';
import type { HttpClient } from '../../../net/http-client/http-client.js';
import type { Download, HttpFailure } from '../../../net/http-client/outcome.js';
import { imageType, TYPE_OCTETS } from './image-type.js';

const LARGEST = 10 * 1024 * 1024;
/** The memory of all images of a node: a single account gets half of it, which is more than a browser asks for at once. */
const MEMORY = 128 * 1024 * 1024;

/** Nothing in it tells whose mail the image is in. */
const HEADERS = { accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif', 'accept-encoding': 'identity' };

export interface DownloadedImage {
  readonly type: string;
  readonly pieces: readonly Uint8Array[];
  readonly octets: number;
  release(): void;
}

export interface RefusedImage {
  /** `refused`: the URL or what is there may not be shown; `failed`: it did not come; `busy`: the node has no room. */
  readonly refusal: 'refused' | 'failed' | 'busy';
  readonly detail: string;
}

export class ImageDownloads {
  readonly #client: Pick<HttpClient, 'download'>;
  readonly #memory = new KeyedLimiter(dynamicShare({ total: MEMORY, factor: 1 }));

  constructor(client: Pick<HttpClient, 'download'>) {
    this.#client = client;
  }

  async download(accountId: string, url: string, signal: AbortSignal): Promise<DownloadedImage | RefusedImage> {
    const image = new IncomingImage(this.#memory.charge(accountId, 0));
    const take = (octets: Uint8Array) => image.take(octets);
    let kept: DownloadedImage | RefusedImage | undefined;
    try {
      kept = image.ended(await this.#client.download({ url, accountId, headers: HEADERS, signal, take }));
      return kept;
    } finally {
      if (kept === undefined || 'refusal' in kept) image.release();
    }
  }
}

/** An image while it arrives. */
class IncomingImage {
  readonly #memory: Reservation;
  readonly #pieces: Uint8Array[] = [];
  #octets = 0;
  #type: string | undefined;
  #refusal: RefusedImage | undefined;

  constructor(memory: Reservation) {
    this.#memory = memory;
  }

  /** Returns false when the rest is not wanted. */
  take(piece: Uint8Array): boolean {
    this.#pieces.push(piece);
    this.#octets += piece.length;
    this.#refusal = this.#fault();
    return this.#refusal === undefined;
  }

  ended(outcome: Download | HttpFailure): DownloadedImage | RefusedImage {
    if (this.#refusal !== undefined) return this.#refusal;
    if ('failure' in outcome) return refusedFor(outcome);
    const { status, headers, isWhole } = outcome;
    if (status !== 200) return failed(`The server of the image answered ${status}.`);
    const coding = headers['content-encoding'] ?? 'identity';
    if (coding !== 'identity') return refused('The image has a content coding.');
    if (!isWhole) return failed('The image is cut off.');
    this.#type ??= imageType(this.#head());
    if (this.#type === undefined) return NO_IMAGE;
    return { type: this.#type, pieces: this.#pieces, octets: this.#octets, release: () => this.release() };
  }

  release(): void {
    this.#memory.release();
  }

  #fault(): RefusedImage | undefined {
    if (this.#octets > LARGEST) return failed(`The image has more than ${LARGEST} octets.`);
    if (!this.#memory.resize(this.#octets)) return { refusal: 'busy', detail: 'Too many images are loaded.' };
    if (this.#type !== undefined || this.#octets < TYPE_OCTETS) return undefined;
    this.#type = imageType(this.#head());
    return this.#type === undefined ? NO_IMAGE : undefined;
  }

  #head(): Uint8Array {
    const first = this.#pieces[0] ?? new Uint8Array();
    return first.length >= TYPE_OCTETS ? first : Buffer.concat(this.#pieces);
  }
}

const refused = (detail: string): RefusedImage => ({ refusal: 'refused', detail });
const failed = (detail: string): RefusedImage => ({ refusal: 'failed', detail });
const NO_IMAGE = refused('What is there is no image of a type that is shown: PNG, JPEG, GIF, WebP or AVIF.');

function refusedFor({ failure, detail }: HttpFailure): RefusedImage {
  if (failure === 'busy') return { refusal: 'busy', detail };
  return failure === 'url' || failure === 'private-address' ? refused(detail) : failed(detail);
}
