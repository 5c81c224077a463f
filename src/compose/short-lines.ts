// A submitted message without lines that are too long, before anybody signs it: headers that have some are folded, bodies are
// encoded (mail/long-lines). A message that has none stays octet for octet.
import { LongLines, longLineEdits } from '../mail/long-lines.js';
import type { SpooledContent, SpoolWriter } from '../spool/spool.js';
import { rewrittenMessage, UnwritableHeader } from './rewritten-message.js';

/** A line that is too long stands where nothing can be done: without white space in a header, or in a signed part. */
export class UnencodableLine extends Error {
  override readonly name = 'UnencodableLine';
}

/**
 * The content itself, or another one in its place, which it is released for. `newWriter` writes that one.
 * @throws UnencodableLine, SpoolFault. The content is the caller's still then.
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
