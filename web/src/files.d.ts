// What Vite makes of imported files that are no modules: style sheets become part of the page's own, `?raw` is the text.
declare module '*.css';
declare module '*.svg?raw' {
  const text: string;
  export default text;
}

/** Put here by the build. */
declare const PRODUCT_VERSION: string;
