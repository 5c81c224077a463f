// Tables, lists and paragraphs in Markdown, within the line width of the documents (test/docs/form.test.ts).

export const WIDTH = 140;

/** Returns a table; every row has as many cells as the head. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line), ''].join('\n');
}

export const code = (text: string): string => `\`${text}\``;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

/** Returns the text in lines of at most `WIDTH` characters. */
export const paragraph = (text: string): string => wrapped(text, '', '');

export const listItem = (text: string): string => wrapped(text, '- ', '  ');

/** Matches white space at which a line may end: the next line must not look like a heading, a list or a table. */
const WORD_ENDS = /\s+(?!(?:[-+*#>|]|\d+[.)])(?:\s|$))/;

function wrapped(text: string, first: string, next: string): string {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.trim().split(WORD_ENDS)) {
    if (!isEmpty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = next;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].join('\n');
}
