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
  /** The error code of OAuth (RFC 6749 §5.2), such as `invalid_grant`; undefined without one. */
  readonly error: string | undefined;

  constructor(message: string, error?: string) {
    super(message, {}, 'provider-refused');
    this.error = error;
  }
}

export interface ProviderRequest {
  /** The value of the header. */
  readonly authorization?: string;
  /** Sent with POST. */
  readonly form?: URLSearchParams;
}

/** @throws ProviderUnavailable */
export async function fetchJson(
  url: string,
  timeoutMs: number,
  { authorization, form }: ProviderRequest = {},
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      ...(form !== undefined && { method: 'POST', body: form }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status >= 400 && response.status < 500 && response.status !== 429) {
      throw new ProviderRefusal(`${url} answers with status ${response.status}`, await errorCode(response));
    }
    if (response.status !== 200) {
      await response.body?.cancel();
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

async function errorCode(response: Response): Promise<string | undefined> {
  try {
    const body: unknown = parseBounded(await boundedText(response));
    const code = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
    return typeof code === 'string' && /^[\w.-]{1,60}$/.test(code) ? code : undefined;
  } catch {
    // The status says enough.
    return undefined;
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
