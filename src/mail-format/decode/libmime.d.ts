// The functions of libmime that Mansio calls; libmime has no types of its own.
declare module 'libmime' {
  interface Libmime {
    /** Decodes the encoded words of RFC 2047. */
    decodeWords(text: string): string;
    /** Decodes one encoded word (RFC 2047), passed as its three fields. */
    decodeWord(charset: string, encoding: 'B' | 'Q', text: string): string;
    /** Parses a structured field (Content-Type, Content-Disposition) and decodes its RFC 2231 parameters. */
    parseHeaderValue(value: string): { value: string | false; params: Record<string, string> };
    /** Replaces common misspellings of a charset name with the registered name. */
    normalizeCharset(charset: string): string;
    /** Returns the file name extension of a media type, `bin` when it is unknown. */
    detectExtension(mediaType: string): string;
    /** Returns the media type of a file name, `application/octet-stream` when it is unknown. */
    detectMimeType(fileName: string): string;
  }
  const libmime: Libmime;
  export default libmime;
}
