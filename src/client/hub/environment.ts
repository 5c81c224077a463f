// What browsers tell their pages and Node.js does not have.

interface EventSource {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

interface Page extends EventSource {
  readonly document?: EventSource & { readonly visibilityState: string };
  readonly location?: { readonly origin: string };
}

const page = globalThis as Page;

/** Calls `listener` when the network or the reader is back. Returns the function that ends it. */
export function onReturn(listener: () => void): () => void {
  const shown = () => {
    if (page.document?.visibilityState === 'visible') listener();
  };
  page.addEventListener?.('online', listener);
  page.document?.addEventListener?.('visibilitychange', shown);
  return () => {
    page.removeEventListener?.('online', listener);
    page.document?.removeEventListener?.('visibilitychange', shown);
  };
}

/** The origin of the page; undefined in Node.js. */
export function pageOrigin(): string | undefined {
  return page.location?.origin;
}
