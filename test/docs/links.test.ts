// Checks that references of documents and comments exist: relative links with anchors, decisions by number, pages with a heading.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import test from '../support/test.js';
import { PAGES as pages } from './documents.js';

const ROOT = resolve('.');

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name));
}

const sources = ['src', 'test', 'dev', 'bench'].flatMap((folder) => filesBelow(folder, '.ts'));

/** Returns the text without fenced code, where `#` begins comments and brackets are no links. */
const prose = (file: string): string => readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```/gm, '');

const headings = (file: string): string[] => Array.from(prose(file).matchAll(/^#{1,6} (.+)$/gm), ([, text]) => text!);

/** Makes an anchor of a heading as GitHub does. */
function anchor(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

function anchorsOf(file: string): Set<string> {
  const anchors = new Set<string>();
  for (const heading of headings(file)) {
    const base = anchor(heading);
    let name = base;
    for (let again = 1; anchors.has(name); again++) name = `${base}-${again}`;
    anchors.add(name);
  }
  return anchors;
}

function brokenLinks(file: string): string[] {
  const broken: string[] = [];
  for (const [, target = ''] of prose(file).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path = '', fragment] = target.split('#');
    const found = path === '' ? file : join(dirname(file), path);
    if (relative(ROOT, resolve(found)).startsWith('..') || !existsSync(found)) broken.push(`${file}: ${target}`);
    else if (fragment !== undefined && !(statSync(found).isFile() && anchorsOf(found).has(fragment)))
      broken.push(`${file}: ${target}`);
  }
  return broken;
}

test('links between documents lead to files and headings that exist', (t) => {
  t.true(pages.length > 20);
  t.deepEqual(pages.flatMap(brokenLinks), []);
});

test('every page of docs/ can be reached from the README', (t) => {
  const seen = new Set(['README.md']);
  for (const file of seen) {
    if (!existsSync(file)) continue;
    for (const [, target = ''] of prose(file).matchAll(/\]\(([^)\s#]+\.md)[^)]*\)/g)) {
      if (!/^[a-z]+:/.test(target)) seen.add(join(dirname(file), target));
    }
  }
  t.deepEqual(
    pages.filter((page) => !seen.has(page)),
    [],
  );
});

test('files that documents name exist', (t) => {
  const broken: string[] = [];
  for (const page of pages) {
    for (const [, named = ''] of prose(page).matchAll(/`((?:src|test|dev|bench|docs|deploy)\/[\w./-]+)`/g)) {
      if (!existsSync(named)) broken.push(`${page}: ${named}`);
    }
    if (page !== 'docs/scaling.md') continue;
    for (const [, named = ''] of prose(page).matchAll(/`((?:[a-z-]+\/)?[a-z-]+\.ts)`/g)) {
      if (!existsSync(join('src/store/postgres', named))) broken.push(`${page}: ${named}`);
    }
  }
  t.deepEqual(broken, []);
});

test('decisions that code and documents cite by number exist', (t) => {
  const numbers = new Set(readdirSync('docs/decisions').map((file) => file.slice(0, 4)));
  const broken: string[] = [];
  let cited = 0;
  for (const file of [...sources, ...pages]) {
    for (const [all] of readFileSync(file, 'utf8').matchAll(/\bdecisions? \d{4}(?:, \d{4})*/g)) {
      for (const [number] of all.matchAll(/\d{4}/g)) {
        cited++;
        if (!numbers.has(number)) broken.push(`${file}: ${all}`);
      }
    }
  }
  t.true(cited > 20);
  t.deepEqual(broken, []);
});

test('pages and headings that comments cite exist, and nothing outside the repository is cited', (t) => {
  const broken: string[] = [];
  for (const file of sources) {
    // A citation may continue in the next line of a comment.
    const text = readFileSync(file, 'utf8').replaceAll(/\n\s*(?:\/\/|\*) ?/g, ' ');
    for (const [all, page = '', heading] of text.matchAll(/(?<![\w/])(docs\/[\w/.-]+\.md)(?:, "([^"]+)")?/g)) {
      if (!existsSync(page) || (heading !== undefined && !headings(page).includes(heading)))
        broken.push(`${file}: ${all}`);
    }
    for (const [all] of text.matchAll(/\binterface, section \d|\bCONTRACT\b|\bDESIGN\b|\(D\d+\)|README D\d+/g)) {
      if (!file.endsWith('links.test.ts')) broken.push(`${file}: ${all}`);
    }
  }
  t.deepEqual(broken, []);
});

test('each page of docs/ begins with a title and a sentence that says what the page is for', (t) => {
  const vague = pages
    .filter((page) => page.startsWith('docs/') && !/^docs\/decisions\/\d/.test(page))
    .filter((page) => !/^# .+\n\n(?:This page|These pages) [^|#\n]+/.test(readFileSync(page, 'utf8')));
  t.deepEqual(vague, []);
});
