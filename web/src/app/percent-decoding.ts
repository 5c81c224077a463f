// Decodes what URLs encode (RFC 3986 §2.1). Text that is not encoded well stays as it is.

export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
