// The diagrams of documents and the parser that websites run on them: a diagram that Mermaid cannot read appears there as an error. The
// library is one file for browsers; it parses without a page when it finds the few members of `window` that its HTML sanitizer looks for.
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';

const LIBRARY = 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js';

interface Mermaid {
  parse(text: string): Promise<unknown>;
}

let loaded: Mermaid | undefined;

function library(): Mermaid {
  if (loaded !== undefined) return loaded;
  // The sanitizer returns texts unchanged in a window that cannot create a document.
  const window = { document: { nodeType: 9, createElement: () => ({}) }, Element: class {} };
  const context = createContext({ window, console, structuredClone, URL, setTimeout, clearTimeout });
  runInContext(readFileSync(LIBRARY, 'utf8'), context, { filename: LIBRARY });
  loaded = context['mermaid'] as Mermaid;
  return loaded;
}

/** Returns the fenced Mermaid blocks of a Markdown page. */
export const diagramsOf = (page: string): string[] =>
  Array.from(page.matchAll(/^```mermaid\n([\s\S]*?)^```$/gm), ([, text]) => text!);

/** Returns why Mermaid cannot read a diagram; undefined when it can. */
export async function diagramFault(text: string): Promise<string | undefined> {
  try {
    await library().parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
