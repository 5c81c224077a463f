// Plain text as it is shown: its own lines, quotations, and the signature. What is quoted at the end, below an answer, is folded with the
// line that introduces it. Every line of the text is in one block, in order.

export type TextBlock =
  | { readonly kind: 'lines'; readonly text: string }
  | { readonly kind: 'signature'; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly TextBlock[]; readonly isFolded: boolean };

/** What is quoted deeper is shown as quoted this deep. */
const MOST_DEPTH = 6;
const QUOTED = /^(?:>[ \t]?)+/;
const SIGNATURE = '-- ';
/** What programs that do not quote write above the whole message that they answer. */
const ORIGINAL =
  /^[ \t]*-{2,}[ \t]*(?:Original Message|Original-Nachricht|Ursprüngliche Nachricht|Forwarded message|الرسالة الأصلية)[ \t]*-{2,}[ \t]*$/i;

interface Line {
  readonly depth: number;
  readonly text: string;
}

export function textBlocks(text: string): TextBlock[] {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\n+$/, '').split('\n');
  const original = lines.findIndex((line, i) => i > 0 && ORIGINAL.test(line));
  const own = original === -1 ? lines : lines.slice(0, original);
  const blocks = nested(own.map(lineOf), 0);
  if (original !== -1) {
    blocks.push({
      kind: 'quote',
      blocks: [{ kind: 'lines', text: lines.slice(original).join('\n') }],
      isFolded: false,
    });
  }
  return folded(blocks);
}

function lineOf(line: string): Line {
  const marks = QUOTED.exec(line)?.[0] ?? '';
  return { depth: Math.min(MOST_DEPTH, marks.replace(/[^>]/g, '').length), text: line.slice(marks.length) };
}

/** Blocks of lines that are quoted `depth` times or more. */
function nested(lines: readonly Line[], depth: number): TextBlock[] {
  const blocks: TextBlock[] = [];
  for (let start = 0; start < lines.length; ) {
    const isDeeper = lines[start]!.depth > depth;
    let end = start + 1;
    while (end < lines.length && lines[end]!.depth > depth === isDeeper) end++;
    const part = lines.slice(start, end);
    if (isDeeper) blocks.push({ kind: 'quote', blocks: nested(part, depth + 1), isFolded: false });
    else blocks.push(...ownBlocks(part.map(({ text }) => text)));
    start = end;
  }
  return blocks;
}

function ownBlocks(lines: readonly string[]): TextBlock[] {
  const start = lines.indexOf(SIGNATURE);
  if (start === -1) return [{ kind: 'lines', text: lines.join('\n') }];
  const signature: TextBlock = { kind: 'signature', text: lines.slice(start).join('\n') };
  return start === 0 ? [signature] : [{ kind: 'lines', text: lines.slice(0, start).join('\n') }, signature];
}

/** Folds the last quotation when text is above it and none is below. */
function folded(blocks: TextBlock[]): TextBlock[] {
  const at = blocks.findLastIndex(({ kind }) => kind === 'quote');
  const quote = blocks[at];
  if (quote?.kind !== 'quote' || blocks.slice(at + 1).some(hasText) || !blocks.slice(0, at).some(hasText))
    return blocks;
  const before = blocks[at - 1]!;
  const divided = before.kind === 'lines' ? dividedText(before.text) : undefined;
  const above: TextBlock[] = divided?.above === undefined ? [] : [{ kind: 'lines', text: divided.above }];
  const start = [...blocks.slice(0, at - 1), ...above];
  if (divided === undefined || !start.some(hasText)) return blocks.with(at, { ...quote, isFolded: true });
  const { introduction } = divided;
  return [
    ...start,
    { kind: 'quote', blocks: [{ kind: 'lines', text: introduction }, ...quote.blocks], isFolded: true },
    ...blocks.slice(at + 1),
  ];
}

/** Below a quotation a signature alone is no answer. */
function hasText(block: TextBlock): boolean {
  return block.kind === 'lines' && block.text.trim() !== '';
}

/** Divides text before its last paragraph, when that is one or two lines which end with a colon: “On Monday Ann wrote:”. */
function dividedText(text: string): { readonly above: string | undefined; readonly introduction: string } | undefined {
  const lines = text.split('\n');
  let end = lines.length;
  while (end > 0 && lines[end - 1]!.trim() === '') end--;
  let start = end;
  while (start > 0 && lines[start - 1]!.trim() !== '') start--;
  if (end === start || end - start > 2 || !/[:：]\s*$/.test(lines[end - 1]!)) return undefined;
  const above = start === 0 ? undefined : lines.slice(0, start).join('\n');
  return { above, introduction: lines.slice(start).join('\n') };
}
