// Compression of blocks: zstd where Node.js has it (22.15 and later), else brotli, each at its fastest level. Every version reads both: where
// Node.js has no zstd, fzstd reads it. The work is done in Node's thread pool.
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { decompress as decompressZstd } from 'fzstd';
import type { Coding } from './format.js';

type Codec = (content: Uint8Array, options: object) => Promise<Buffer>;

/** The types are those of the oldest Node.js. */
const { zstdCompress, zstdDecompress, constants } = zlib as typeof zlib & {
  readonly zstdCompress?: (...args: never[]) => void;
  readonly zstdDecompress?: (...args: never[]) => void;
  readonly constants: { readonly ZSTD_c_compressionLevel?: number };
};
const brotli = promisify(zlib.brotliCompress) as Codec;
const fromBrotli = promisify(zlib.brotliDecompress) as Codec;
const zstd = zstdCompress && (promisify(zstdCompress) as unknown as Codec);
const fromZstd = zstdDecompress && (promisify(zstdDecompress) as unknown as Codec);

export const BEST_CODING: Coding = zstd === undefined ? 'brotli' : 'zstd';

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel ?? 0]: 1 } };

export async function compressed(content: Uint8Array, coding: Coding): Promise<Uint8Array> {
  switch (coding) {
    case 'plain':
      return content;
    case 'brotli':
      return brotli(content, BROTLI);
    case 'zstd':
      if (zstd === undefined) throw new Error('this Node.js has no zstd');
      return zstd(content, ZSTD);
  }
}

/** @throws Error when the octets are not a coding of `octets` octets */
export async function decompressed(coded: Uint8Array, coding: Coding, octets: number): Promise<Uint8Array> {
  const content = await decoded(coded, coding, octets);
  if (content.length !== octets) throw new Error('the content of a block has another length');
  return content;
}

async function decoded(coded: Uint8Array, coding: Coding, octets: number): Promise<Uint8Array> {
  // A limit of 0 is none.
  const bound = { maxOutputLength: Math.max(1, octets) };
  switch (coding) {
    case 'plain':
      return coded;
    case 'brotli':
      return fromBrotli(coded, bound);
    case 'zstd':
      return fromZstd === undefined ? decompressZstd(coded, new Uint8Array(octets)) : fromZstd(coded, bound);
  }
}
