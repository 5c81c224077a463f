// One version of the page in the browser's cache, so that it opens without a network: its document and all its files, also those that are
// loaded late. A version is there as a whole or not at all. The document comes from the node where that answers, files from the cache.
// Windows of an earlier version find theirs in its cache.

/** A version of the page, as the build has made it. */
export interface PageVersion {
  /** Changes with the document and with every file. */
  readonly name: string;
  /** Paths of all files that the document or another file loads. */
  readonly files: readonly string[];
}

interface PageStore {
  addAll(paths: string[]): Promise<void>;
  put(path: string, response: Response): Promise<void>;
  match(path: string): Promise<Response | undefined>;
}

/** The members of `CacheStorage` that are used. */
interface PageStores {
  open(name: string): Promise<PageStore>;
  keys(): Promise<string[]>;
  match(path: string): Promise<Response | undefined>;
  delete(name: string): Promise<boolean>;
}

export interface PageCacheParts {
  readonly stores: PageStores;
  /** Asks the node for the document at this path. */
  fetch(path: string): Promise<Response>;
  /** How long a navigation waits for the node before the document comes from the cache. ms */
  readonly patienceMs: number;
}

const PREFIX = 'mansio-page-';
const DOCUMENT = '/index.html';
/** Windows that are open since the versions before may still load files of them. */
const MOST_EARLIER = 2;
const NONCE_OCTETS = 16;

/** Paths of the API and of what other programs look up: the node's alone, as in `src/gateways/http/page/page.ts`. */
const RESERVED = /^\/(?:config.*|(?:api|hubs|link|verify|\.well-known|mail|autodiscover|healthz)(?:\/.*)?)$/i;

/** Whether a navigation to this path opens the page. */
export function isOfPage(path: string): boolean {
  return !RESERVED.test(path);
}

export class PageCache {
  readonly #version: PageVersion;
  readonly #parts: PageCacheParts;

  constructor(version: PageVersion, parts: PageCacheParts) {
    this.#version = version;
    this.#parts = parts;
  }

  /** Fills the cache of this version. @throws Error when a file is missing, or the node serves another version. */
  async fill(): Promise<void> {
    const { files } = this.#version;
    const document = await this.#parts.fetch(DOCUMENT);
    const named = filesOf(await document.clone().text());
    // During an upgrade the worker and the document may come from different nodes.
    if (!document.ok || named.length === 0 || !named.every((path) => files.includes(path)))
      throw new Error('The node serves another version of the page.');
    const store = await this.#parts.stores.open(this.#name);
    await store.addAll([...files]);
    await store.put(DOCUMENT, document);
  }

  /** Deletes the caches of earlier versions. `hasWindows`: some windows may still show the last ones. */
  async deleteEarlier(hasWindows: boolean): Promise<void> {
    const earlier = (await this.#parts.stores.keys()).filter((name) => name.startsWith(PREFIX) && name !== this.#name);
    const outdated = hasWindows ? earlier.slice(0, -MOST_EARLIER) : earlier;
    for (const name of outdated) await this.#parts.stores.delete(name);
  }

  /** A file of this version or of an earlier one; undefined for others. */
  file(path: string): Promise<Response | undefined> {
    return this.#parts.stores.match(path);
  }

  /** The document as the node has it, or that of the cache when the node does not answer, or has a fault. */
  async document(asked: Promise<Response>): Promise<Response> {
    const answered = asked.catch(() => undefined);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#parts.patienceMs);
    });
    const response = await Promise.race([answered, patience]);
    clearTimeout(timer);
    if (response !== undefined && response.status < 500) return response;
    const store = await this.#parts.stores.open(this.#name);
    const kept = await store.match(DOCUMENT);
    return kept === undefined ? asked : withFreshNonce(kept);
  }

  get #name(): string {
    return `${PREFIX}${this.#version.name}`;
  }
}

/** The files that a document loads. */
function filesOf(html: string): readonly string[] {
  return [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
}

/** The nonce of the styles is another one each time the document is opened, as it is when the node sends it. */
async function withFreshNonce(document: Response): Promise<Response> {
  const headers = new Headers(document.headers);
  // The body is as it was before it was compressed.
  headers.delete('Content-Encoding');
  headers.delete('Content-Length');
  const policy = headers.get('Content-Security-Policy') ?? '';
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
  const html = await document.text();
  if (nonce === undefined) return new Response(html, { headers });
  const fresh = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(NONCE_OCTETS))));
  headers.set('Content-Security-Policy', policy.replaceAll(nonce, fresh));
  return new Response(html.replaceAll(nonce, fresh), { headers });
}
