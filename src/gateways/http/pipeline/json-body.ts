// Reads a JSON body while it arrives. A scan before the parser limits depth and number of values, so that parsing is short for any body.
// Files in the body are written to the spool on the way (uploads).
import { isUtf8 } from 'node:buffer';
import type { Reservation } from '../../../concurrency/keyed-limiter.js';
import { JsonExcess, JsonScan } from '../../../net/json-scan.js';
import type { HttpRequest } from '../exchange.js';
import { invalid, Problem } from '../problem.js';
import { readBodyPieces } from './body-memory.js';
import { type UploadField, Uploads } from './uploads.js';

/** Octets of a body without its files. */
const LARGEST_JSON = 4 * 1024 * 1024;

export interface JsonBody {
  readonly value: object;
  /** Removes the files of the body from the spool. */
  release(): void;
}

interface Limits {
  /** Octets of the whole body. */
  readonly bodyLimit: number;
  readonly uploads: UploadField | undefined;
}

/** @throws Problem 400, 413, 503; BodyError; SpoolFault */
export async function readJson(
  request: HttpRequest,
  { bodyLimit, uploads: field }: Limits,
  memory: Reservation,
): Promise<JsonBody> {
  const uploads = field && new Uploads(field);
  const kept: Uint8Array[] = [];
  let octets = 0;
  const scan = new JsonScan({
    keep(piece) {
      octets += piece.length;
      if (octets > LARGEST_JSON) throw new Problem(413, { detail: TOO_LARGE });
      kept.push(Buffer.from(piece));
    },
    ...(uploads && field && { extraction: { ...field, begin: () => uploads.begin() } }),
  });
  try {
    await readBodyPieces(request, bodyLimit, memory, async (piece) => {
      scan.push(piece);
      await uploads?.write();
    });
    const value = parsed(Buffer.concat(kept));
    await uploads?.putInto(value);
    return { value, release: () => uploads?.release() };
  } catch (error) {
    uploads?.release();
    throw error instanceof JsonExcess ? invalid({ body: [error.message] }) : error;
  }
}

const TOO_LARGE = `The body has more than ${LARGEST_JSON} octets without the content of attachments.`;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

function parsed(octets: Buffer): object {
  if (octets.length === 0) throw invalid({ body: ['is missing'] });
  // RFC 8259 §8.1: a byte order mark may be ignored.
  const isMarked = octets.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const value = isUtf8(octets) ? parsedText(octets.toString('utf8', isMarked ? BYTE_ORDER_MARK.length : 0)) : undefined;
  if (value === undefined) throw invalid({ body: ['is not valid JSON'] });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid({ body: ['must be a JSON object'] });
  }
  return value;
}

/** Undefined when the text is not JSON. */
function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
