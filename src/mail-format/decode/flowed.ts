// Converts text of format=flowed (RFC 3676 §4) to paragraphs of one line each. Mansio has its own code because libmime, and so mailparser,
// joins quoted lines with their quote marks (`> one > two`) and drops the last line end.

/** `text` has line ends `\n`. `delSp`: the space before a soft line break is not part of the text. */
export function unwrapped(text: string, delSp: boolean): string {
  const paragraphs: string[] = [];
  let depth = 0;
  let pieces: string[] = [];
  const end = (): void => {
    if (pieces.length > 0) paragraphs.push(quoted(depth, pieces.join('')));
    pieces = [];
  };
  for (const line of text.split('\n')) {
    const marks = quoteDepth(line);
    const content = line.slice(line[marks] === ' ' ? marks + 1 : marks);
    const isSignature = content === '-- ';
    // A soft line break before another quote depth or a signature is an error: the paragraph ends there.
    if (marks !== depth || isSignature) end();
    if (delSp && pieces.length > 0) pieces.push(pieces.pop()!.slice(0, -1));
    depth = marks;
    pieces.push(content);
    if (isSignature || !content.endsWith(' ')) end();
  }
  end();
  return paragraphs.join('\n');
}

function quoteDepth(line: string): number {
  let depth = 0;
  while (line[depth] === '>') depth++;
  return depth;
}

function quoted(depth: number, text: string): string {
  if (depth === 0) return text;
  return text === '' ? '>'.repeat(depth) : `${'>'.repeat(depth)} ${text}`;
}
