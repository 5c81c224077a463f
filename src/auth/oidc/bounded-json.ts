// Fetches JSON objects from an identity provider: with limits of time and size, and without redirects.

import { Fault } from '../../concurrency/fault.js';
import { parseBounded } from '../../net/json-scan.js';

const LARGEST_OCTETS = 512 * 1024;

/** The provider cannot be reached, or its answer is unusable. */
export class ProviderUnavailable extends Fault<'provider-unavailable' | 'provider-refused'> {
  constructor(
    message: string,
    { cause }: ErrorOptions = {},
    code: ProviderUnavailable['code'] = 'provider-unavailable',
  ) {
    super(code, message, { temporary: true, cause });
  }
}

/** The provider has refused the request: a status from 400 to 499. */
export class ProviderRefusal extends ProviderUnavailable {
  constructor(message: string) {
    super(message, {}, 'provider-refused');
  }
}

/** `token`: sent to the provider as a bearer token. @throws ProviderUnavailable */
export async function fetchJson(
  url: string,
  timeoutMs: number,
  token?: string,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status >= 400 && response.status < 500 && response.status !== 429) {
        throw new ProviderRefusal(`${url} answers with status ${response.status}`);
      }
      throw new Error(`status ${response.status}`);
    }
    const value: unknown = parseBounded(await boundedText(response));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not a JSON object');
    return value as Readonly<Record<string, unknown>>;
  } catch (cause) {
    if (cause instanceof ProviderRefusal) throw cause;
    throw new ProviderUnavailable(`${url} cannot be fetched: ${reason(cause)}`, { cause });
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let octets = 0;
  // An exception in the loop cancels the body.
  for await (const chunk of response.body ?? []) {
    octets += chunk.length;
    if (octets > LARGEST_OCTETS) throw new Error(`more than ${LARGEST_OCTETS} octets`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The message of fetch only says that it failed; its cause has the reason. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}, ${error.cause.message}` : error.message;
}
