// What one open email shows besides itself: pictures that were asked for, images among its attachments, an attachment that is viewed, its
// source. It ends with the view.
import { signal } from '@preact/signals';
import type { Attachment, EmailDetail, MansioClient } from '../../../src/client/index.js';
import { imagesByContentId } from './attachments/inline-images.js';
import type { SafeMail } from './html/safe-mail.js';

export interface ViewedFile {
  readonly attachment: Attachment;
  /** A `blob:` URL of an image, or the text. */
  readonly url?: string;
  readonly text?: string;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

export class MessageModel {
  readonly client: MansioClient;
  readonly email: EmailDetail;
  /** The HTML, once it is made safe. */
  readonly safeMail = signal<SafeMail | undefined>(undefined);
  /** Signed addresses of pictures from elsewhere, once they were asked for. */
  readonly remoteImages = signal<ReadonlyMap<string, string>>(NOTHING);
  readonly pictures = signal<'blocked' | 'loading' | 'shown'>('blocked');
  readonly inlineImages = signal<ReadonlyMap<string, string>>(NOTHING);
  readonly viewed = signal<ViewedFile | undefined>(undefined);
  readonly isOriginal = signal(false);
  readonly #end = new AbortController();

  constructor(client: MansioClient, email: EmailDetail) {
    this.client = client;
    this.email = email;
  }

  /** Reads the images that the HTML names by Content-ID. */
  async readInlineImages(contentIds: readonly string[]): Promise<void> {
    const images = await imagesByContentId(this.client, this.email, contentIds);
    if (!this.#end.signal.aborted && images.size > 0) this.inlineImages.value = images;
  }

  /** @throws Refusal, NetworkFault */
  async showPictures(): Promise<void> {
    this.pictures.value = 'loading';
    try {
      const { id } = this.email;
      const urls = await this.client.request('POST', '/api/emails/{id}/images', { params: { id } });
      const absolute = (path: string) => new URL(path, location.origin).href;
      this.remoteImages.value = new Map(Object.entries(urls).map(([url, path]) => [url, absolute(path)]));
      this.pictures.value = 'shown';
    } catch (error) {
      this.pictures.value = 'blocked';
      throw error;
    }
  }

  view(opened: ViewedFile | undefined): void {
    const file = this.#end.signal.aborted ? undefined : opened;
    for (const former of [this.viewed.peek(), opened]) {
      if (former?.url !== undefined && former !== file) URL.revokeObjectURL(former.url);
    }
    this.viewed.value = file;
  }

  close(): void {
    this.#end.abort();
    this.view(undefined);
  }
}
