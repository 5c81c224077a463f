// The HTML of a signature and its size, as the server counts it.

/** The most that the server stores. bytes */
export const LONGEST_SIGNATURE = 10 * 1024;

/** Nothing, when what is written has neither text nor pictures. */
export function signatureOf({ html, text }: { readonly html: string; readonly text: string }): string {
  return text.trim() === '' && !/<img\b/i.test(html) ? '' : html;
}

export function signatureSize(html: string): number {
  return new TextEncoder().encode(html).length;
}
