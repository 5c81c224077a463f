// Removes lines that are too long from a submitted message, before it is signed: headers are folded, bodies are encoded
// (mail/writing/long-lines). A message without such lines stays the same octet for octet.
import { LongLines, longLineEdits } from '../../mail-format/writing/long-lines.js';
import type { SpooledContent, SpoolWriter } from '../spool/spool.js';
import { rewrittenMessage, UnwritableHeader } from './rewritten-message.js';

/** Thrown when a line that is too long cannot be changed: it is in a header without white space, or in a signed part. */
export class UnencodableLine extends Error {
  override readonly name = 'UnencodableLine';
}

/**
 * Returns the content itself, or a rewritten one, for which the original is released; `newWriter` writes it. @throws UnencodableLine,
 * SpoolFault; the caller then still owns the content
 */
export async function withShortLines(content: SpooledContent, newWriter: () => SpoolWriter): Promise<SpooledContent> {
  const lines = new LongLines();
  for await (const piece of content.chunks()) lines.push(piece);
  lines.finish();
  if (lines.starts.length === 0) return content;
  const edits = longLineEdits(content.index, lines.starts);
  if (edits === undefined) throw new UnencodableLine();
  const writer = newWriter();
  try {
    for await (const piece of rewrittenMessage(content, edits)) await writer.write(piece);
  } catch (error) {
    writer.discard();
    throw error instanceof UnwritableHeader ? new UnencodableLine() : error;
  }
  const shorter = await writer.finish();
  content.release();
  return shorter;
}
