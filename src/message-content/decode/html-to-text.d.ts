// The part of html-to-text that Mansio calls; the package has no types of its own.
declare module 'html-to-text' {
  interface Builder {
    addInline(text: string): void;
  }
  interface Element {
    readonly attribs: Readonly<Record<string, string | undefined>>;
  }
  interface Selector {
    readonly selector: string;
    readonly format?: string;
    readonly options?: Readonly<Record<string, unknown>>;
  }
  interface Options {
    readonly wordwrap: false;
    /** An empty list means the whole document. */
    readonly baseElements: { readonly selectors: readonly string[] };
    readonly formatters: Readonly<Record<string, (element: Element, walk: unknown, builder: Builder) => void>>;
    readonly selectors: readonly Selector[];
  }
  export function compile(options: Options): (html: string) => string;
}
