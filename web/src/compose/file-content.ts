// The contents of files as a save sends them, and URLs that show images of a draft in the page.
import type { MansioClient } from '../../../src/client/index.js';
import { imageTypeOf } from '../message/attachments/attachment-kind.js';
import { dataUrlOf } from '../message/attachments/data-url.js';
import { contentPath, type DraftFile } from './attachments.js';

/** Base64 by key. A file that the browser cannot read any more (it was changed or removed) is left out. */
export async function contentsOf(
  files: readonly DraftFile[],
  blobs: ReadonlyMap<string, Blob>,
): Promise<ReadonlyMap<string, string>> {
  const contents = new Map<string, string>();
  for (const { key } of files) {
    const blob = blobs.get(key);
    const content = blob === undefined ? undefined : await base64Of(blob).catch(() => undefined);
    if (content !== undefined) contents.set(key, content);
  }
  return contents;
}

async function base64Of(blob: Blob): Promise<string> {
  const url = await dataUrlOf(blob);
  return url.slice(url.indexOf(',') + 1);
}

/** The images of a draft's text: from the file that was pasted, or from the server. The URLs hold until `release`. */
export class ImageUrls {
  readonly #client: MansioClient;
  readonly #urls = new Map<string, Promise<string | undefined>>();

  constructor(client: MansioClient) {
    this.#client = client;
  }

  urlOf(contentId: string, files: readonly DraftFile[], blobs: ReadonlyMap<string, Blob>): Promise<string | undefined> {
    const known = this.#urls.get(contentId);
    if (known !== undefined) return known;
    const made = this.#made(contentId, files, blobs).catch(() => undefined);
    this.#urls.set(contentId, made);
    return made;
  }

  /** Returns the URL of an image that is being put into the text. */
  urlOfFile(contentId: string, file: Blob): string {
    const url = URL.createObjectURL(file);
    this.#urls.set(contentId, Promise.resolve(url));
    return url;
  }

  release(): void {
    for (const url of this.#urls.values()) void url.then((known) => known && URL.revokeObjectURL(known));
    this.#urls.clear();
  }

  async #made(
    contentId: string,
    files: readonly DraftFile[],
    blobs: ReadonlyMap<string, Blob>,
  ): Promise<string | undefined> {
    const file = files.find((one) => one.contentId === contentId);
    if (file === undefined) return undefined;
    const own = blobs.get(file.key);
    if (own !== undefined) return URL.createObjectURL(own);
    if (file.stored === null) return undefined;
    const content = await this.#client.blob(contentPath(file.stored));
    // A type that its sender chose could make a document of the page's origin out of it.
    const type = await imageTypeOf(content);
    return type === undefined ? undefined : URL.createObjectURL(content.slice(0, content.size, type));
  }
}
