// Collects the licence texts of the packages whose code is in the page, while Vite builds it: `licenses.txt`, which is served beside the page.
// A package without a licence text stops the build.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const LICENSES = 'licenses.txt';
const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//s;
const TEXT = /^(?:licen[cs]e|copying|notice|copyright)/i;
const ICONS = 'web/src/design/icons.LICENSE';

/** These packages name the MIT licence and their owner, and have no text of it. */
const OWNERS = {
  '@microsoft/signalr': '.NET Foundation and Contributors',
  '@microsoft/signalr-protocol-msgpack': '.NET Foundation and Contributors',
};

/** A plugin of Vite. */
export function licensesOfPage() {
  return {
    name: 'licenses-of-page',
    generateBundle(_, chunks) {
      const modules = Object.values(chunks).flatMap(({ modules = {} }) => Object.keys(modules));
      const folders = new Set(modules.map((id) => PACKAGE.exec(id.replace(/^\0/, ''))?.[1]).filter(Boolean));
      this.emitFile({ type: 'asset', fileName: LICENSES, source: licenseTexts([...folders]) });
    },
  };
}

/** `folders`: of packages, each with its package.json. @throws when one has no licence text */
export function licenseTexts(folders) {
  const parts = folders.map(partOf).sort((a, b) => (a.title < b.title ? -1 : 1));
  const icons = { title: 'Lucide (icons), https://lucide.dev', text: readFileSync(ICONS, 'utf8') };
  const sections = [...parts, icons].map(
    ({ title, text }) => `${title}\n${'-'.repeat(title.length)}\n\n${text.trim()}\n`,
  );
  return ['The page of Mansio contains code of these packages.\n', ...sections].join('\n\n');
}

function partOf(folder) {
  const { name, version, license, homepage, repository } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const source = homepage ?? repository?.url ?? repository ?? '';
  const texts = readdirSync(folder)
    .filter((file) => TEXT.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length === 0 && OWNERS[name] !== undefined && license === 'MIT') texts.push(mitText(OWNERS[name]));
  if (texts.length === 0) throw new Error(`${name} has no licence text, which licenses.txt of the page needs`);
  return { title: `${name} ${version}, ${license}, ${source}`, text: texts.join('\n\n') };
}

function mitText(owner) {
  return `MIT License

Copyright (c) ${owner}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
}
