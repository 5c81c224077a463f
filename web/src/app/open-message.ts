// What the service worker sends a window: a notification was clicked.

export interface OpenMessage {
  /** A path of the page, such as `/emails/ID`. */
  readonly path: string;
}

export function isOpenMessage(data: unknown): data is OpenMessage {
  return typeof data === 'object' && data !== null && 'path' in data && typeof data.path === 'string';
}
