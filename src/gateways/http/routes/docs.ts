// Swagger UI over /api/openapi.json, for people who read and try the API. All files come from this origin; the build copies them next to
// this file. Links are relative, so that the page also works under a path of a proxy. The OpenAPI document omits these pages.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { HeaderField } from '../exchange.js';
import { choice } from '../fields.js';
import { binary, defineRoute, EMPTY, type Route } from '../route.js';

const PATH = '/api/docs';
const CHUNK = 64 * 1024;

/** Swagger UI draws icons from data URLs and needs only the styles and scripts of its files. */
const PAGE_POLICY: HeaderField = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
];

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mansio API</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<noscript>This page needs JavaScript. The API is described in <a href="openapi.json">openapi.json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** `validatorUrl` is null because Swagger UI would otherwise send the document to a service of its maker. */
const START = `window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#api',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'none',
  validatorUrl: null,
});
`;

const SCRIPT = 'text/javascript; charset=utf-8';
const TYPES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT,
  'favicon-32x32.png': 'image/png',
  'start.js': SCRIPT,
} as const;

type Asset = keyof typeof TYPES;

export function docsRoutes(): readonly Route[] {
  const assets = new Map<Asset, Promise<Buffer>>();
  return [
    redirect('/', 'api/docs'),
    redirect(`${PATH}/`, '../docs'),
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'The API as a page',
      tags: [],
      inDocument: false,
      access: 'public',
      replies: { 200: binary('text/html; charset=utf-8') },
      handler: async () => file(Buffer.from(PAGE), 'text/html; charset=utf-8'),
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{file}`,
      summary: 'Files of the page',
      tags: [],
      inDocument: false,
      access: 'public',
      params: { file: choice('swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'start.js') },
      replies: { 200: binary('*/*') },
      handler: async ({ params }) => {
        const content = assets.get(params.file) ?? read(params.file);
        assets.set(params.file, content);
        return file(await content, TYPES[params.file]);
      },
    }),
  ];
}

function redirect(path: string, location: string): Route {
  return defineRoute({
    method: 'GET',
    path,
    summary: 'Redirects to the page of the API',
    tags: [],
    inDocument: false,
    access: 'public',
    replies: { 303: EMPTY },
    handler: async () => ({ status: 303, headers: [['Location', location]] }),
  });
}

async function read(name: Asset): Promise<Buffer> {
  if (name === 'start.js') return Buffer.from(START);
  return readFile(new URL(`swagger-ui/${name}`, import.meta.url));
}

/** File names stay the same in every version, so browsers revalidate. */
function file(content: Buffer, type: string) {
  const tag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  const headers: readonly HeaderField[] = [
    ['Content-Type', type],
    ['Cache-Control', 'public, max-age=3600'],
    ['ETag', `"${tag}"`],
    PAGE_POLICY,
  ];
  return { status: 200, headers, stream: { length: content.length, chunks: pieces(content) } } as const;
}

async function* pieces(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += CHUNK) yield content.subarray(at, at + CHUNK);
}
