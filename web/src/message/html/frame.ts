// Gives the frame of a mail its document. The frame is a sink of Trusted Types: the one policy of the page for it is here.

/** The part of Trusted Types that is used; a browser without them takes the text. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(html: string): string }): { createHTML(html: string): unknown };
}

/** No scripts, no origin of its own; a link opens a window that is not bound by this. */
export const SANDBOX = 'allow-popups allow-popups-to-escape-sandbox';

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy('mansio-mail', { createHTML: (html) => html });

/** `document`: what frame-document.ts has made, of what safe-mail.ts has made safe. */
export function setFrameDocument(frame: HTMLIFrameElement, document: string): void {
  frame.srcdoc = (policy?.createHTML(document) ?? document) as string;
}
