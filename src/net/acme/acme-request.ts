// One HTTPS request to an ACME server: its time and the size of the reply are limited, redirects are not followed, and the certificate of the
// server is checked. The caller judges the status.
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { AcmeFault } from './acme-fault.js';

export interface AcmeRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM of the authorities that may sign the server's certificate; absent: those of Node.js. */
  readonly ca?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface AcmeReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A chain of certificates has a few kB. */
const LARGEST_OCTETS = 256 * 1024;
const HEADER_OCTETS = 16 * 1024;
const TLS_CODES =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|EPROTO$|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_)/;

/** @throws AcmeFault */
export function acmeRequest({ method, url, headers, body, ca, timeoutMs, signal }: AcmeRequest): Promise<AcmeReply> {
  return new Promise((resolve, reject) => {
    const { protocol, host, username } = readUrl(url);
    if (protocol !== 'https:' || username !== '') {
      return reject(new AcmeFault('reply', `the server names ${url}, which is no https URL without a user`));
    }
    const asked = request(url, {
      method,
      agent: false,
      headers: { 'user-agent': 'Mansio', 'accept-language': 'en', ...headers },
      maxHeaderSize: HEADER_OCTETS,
      insecureHTTPParser: false,
      ...(ca !== undefined && { ca }),
    });
    const settle = () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (fault: AcmeFault) => {
      settle();
      reject(fault);
      asked.destroy();
    };
    const onAbort = () => fail(new AcmeFault('aborted', 'the request was given up'));
    const late = setTimeout(
      () => fail(new AcmeFault('timeout', `${host} gave no reply in ${timeoutMs} ms`)),
      timeoutMs,
    );
    asked.on('error', (error) => fail(faultOf(error, host)));
    asked.on('upgrade', () => fail(new AcmeFault('reply', `${host} answered with another protocol`)));
    asked.on('response', (response) => {
      const chunks: Buffer[] = [];
      let octets = 0;
      response.on('data', (chunk: Buffer) => {
        octets += chunk.length;
        if (octets > LARGEST_OCTETS) fail(new AcmeFault('reply', `${host} sent more than ${LARGEST_OCTETS} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', (error) => fail(faultOf(error, host)));
      response.on('end', () => {
        settle();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    else asked.end(body);
  });
}

function readUrl(url: string): Pick<URL, 'protocol' | 'host' | 'username'> {
  return URL.canParse(url) ? new URL(url) : { protocol: '', host: '', username: '' };
}

function faultOf(error: NodeJS.ErrnoException, host: string): AcmeFault {
  const { code = '', message } = error;
  if (code.startsWith('HPE_'))
    return new AcmeFault('reply', `the reply of ${host} is no HTTP: ${message}`, { cause: error });
  if (TLS_CODES.test(code)) return new AcmeFault('tls', `no TLS with ${host}: ${message}`, { cause: error });
  return new AcmeFault('connection', `no reply of ${host}: ${code === '' ? message : code}`, { cause: error });
}
