// Files inside a JSON body, as base64: they are decoded while the body arrives and stored in one spool file until the request is answered,
// so neither their text nor their octets are ever in memory as a whole.
import { randomBytes } from 'node:crypto';
import type { Spool } from '../../../message-content/spool/spool.js';
import type { StringSink } from '../../../net/json-scan.js';
import { StrictBase64 } from './strict-base64.js';

type File = Awaited<ReturnType<Spool['file']>>;

/** The files that a route accepts: the member `field` of the objects in the array `list`. */
export interface UploadField {
  readonly list: string;
  readonly field: string;
  readonly spool: Pick<Spool, 'file'>;
}

/** One file; its octets exist until the request is answered. */
export class Upload {
  readonly #read: (from: number, to: number) => AsyncIterable<Uint8Array>;
  readonly #start: number;
  size = 0;
  /** False: the client sent something that is not base64, and nothing of it is stored. */
  isBase64 = true;

  constructor(start: number, read: (from: number, to: number) => AsyncIterable<Uint8Array>) {
    this.#start = start;
    this.#read = read;
  }

  /** The octets from the first one on; may be called any number of times. */
  chunks(): AsyncIterable<Uint8Array> {
    return this.#read(this.#start, this.#start + this.size);
  }
}

/** The files of one body. */
export class Uploads {
  readonly #field: UploadField;
  readonly #prefix = randomBytes(16).toString('hex');
  readonly #byToken = new Map<string, Upload>();
  /** Octets that are decoded, but not yet in the file. */
  #pending: Uint8Array[] = [];
  #octets = 0;
  #file: File | undefined;

  constructor(field: UploadField) {
    this.#field = field;
  }

  begin(): { readonly token: string; readonly sink: StringSink } {
    const upload = new Upload(this.#octets, (from, to) => this.#read(from, to));
    // The prefix is a secret of this process, so no client can name a file.
    const token = `${this.#prefix}/${this.#byToken.size}`;
    this.#byToken.set(token, upload);
    const decoder = new StrictBase64();
    const add = (octets: Uint8Array | undefined): void => {
      if (octets === undefined) upload.isBase64 = false;
      else if (octets.length > 0) {
        this.#pending.push(octets);
        this.#octets += octets.length;
        upload.size += octets.length;
      }
    };
    const sink: StringSink = {
      push: (octets) => {
        if (upload.isBase64) add(decoder.push(octets));
      },
      end: () => {
        if (upload.isBase64) add(decoder.finish());
      },
    };
    return { token, sink };
  }

  /** Writes the octets decoded so far to the file. @throws SpoolFault */
  async write(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    for (const octets of pending) {
      this.#file ??= await this.#field.spool.file();
      await this.#file.write(octets);
    }
  }

  /** Ends the writing, and replaces the tokens in the parsed value by the files. @throws SpoolFault */
  async putInto(value: object): Promise<void> {
    await this.#file?.flush();
    const list: unknown = (value as Readonly<Record<string, unknown>>)[this.#field.list];
    if (!Array.isArray(list)) return;
    for (const entry of list) {
      const upload = this.#byToken.get(entry?.[this.#field.field]);
      if (upload !== undefined) entry[this.#field.field] = upload;
    }
  }

  /** Closes the file; may be called again. */
  release(): void {
    void this.#file?.close();
    this.#file = undefined;
  }

  async *#read(from: number, to: number): AsyncIterable<Uint8Array> {
    if (to > from) yield* this.#file!.chunks(from, to);
  }
}
