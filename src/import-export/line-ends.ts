// Converts the line ends of mail from files. Unix files have bare line feeds; mail has CRLF (RFC 5322 §2.1), on which signatures
// and clients rely.

const LF = 0x0a;
const CR = 0x0d;

/** Replaces bare line feeds by CRLF; returns the message unchanged when its first line ends with CRLF. */
export function withMailLineEnds(message: Buffer): Buffer {
  const feed = message.indexOf(LF);
  if (feed < 0 || message[feed - 1] === CR) return message;
  let alone = 0;
  for (let at = feed; at >= 0; at = message.indexOf(LF, at + 1)) if (message[at - 1] !== CR) alone++;
  const mended = Buffer.allocUnsafe(message.length + alone);
  let from = 0;
  let to = 0;
  for (let at = feed; at >= 0; at = message.indexOf(LF, at + 1)) {
    if (message[at - 1] === CR) continue;
    to += message.copy(mended, to, from, at);
    mended[to++] = CR;
    from = at;
  }
  message.copy(mended, to, from);
  return mended;
}
