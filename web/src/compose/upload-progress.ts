// Tells how much of a request has been sent, which `fetch` does not: where somebody follows a path, the request goes by XMLHttpRequest. The
// page gives this to its client in place of `fetch`.

type Follower = (fraction: number) => void;

const followers = new Map<string, Follower>();

/** Calls `follower` while the body of a request to the path is sent. Returns what ends that. */
export function followUpload(path: string, follower: Follower): () => void {
  followers.set(path, follower);
  return () => {
    if (followers.get(path) === follower) followers.delete(path);
  };
}

export const fetchWithProgress: typeof fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input, location.href);
  const follower = followers.get(url.pathname);
  const body = init?.body;
  return follower === undefined || typeof body !== 'string'
    ? fetch(input, init)
    : sent(url, { ...init, body }, follower);
};

function sent(url: URL, init: RequestInit & { readonly body: string }, follower: Follower): Promise<Response> {
  const { method = 'GET', body, signal } = init;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    request.responseType = 'arraybuffer';
    new Headers(init.headers).forEach((value, name) => {
      request.setRequestHeader(name, value);
    });
    request.upload.onprogress = ({ loaded, total }) => follower(total === 0 ? 0 : loaded / total);
    request.onload = () => resolve(replyOf(request));
    request.onerror = () => reject(new TypeError('The request has no answer.'));
    request.onabort = () => reject(new DOMException('The request was ended.', 'AbortError'));
    signal?.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}

function replyOf(request: XMLHttpRequest): Response {
  const { status, statusText } = request;
  const fields = request
    .getAllResponseHeaders()
    .split('\r\n')
    .flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).trim()]] : [];
    });
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : (request.response as ArrayBuffer), { status, statusText, headers: fields });
}
