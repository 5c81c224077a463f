// The parts of libmime (no types of its own) that Mansio calls.
declare module 'libmime' {
  interface Libmime {
    /** RFC 2047 encoded words to text. */
    decodeWords(text: string): string;
    /** One encoded word (RFC 2047), given as its three fields. */
    decodeWord(charset: string, encoding: 'B' | 'Q', text: string): string;
    /** A structured field (Content-Type, Content-Disposition) with RFC 2231 parameters decoded. */
    parseHeaderValue(value: string): { value: string | false; params: Record<string, string> };
    /** Common misspellings of charset names to the registered one. */
    normalizeCharset(charset: string): string;
    /** File name extension of a media type, `bin` when unknown. */
    detectExtension(mediaType: string): string;
    /** Media type of a file name, `application/octet-stream` when unknown. */
    detectMimeType(fileName: string): string;
  }
  const libmime: Libmime;
  export default libmime;
}
