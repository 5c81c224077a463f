// Stacks name files and lines of the source, though the code is bundled in dist/program. Node.js does so when it is told to
// (`process.setSourceMapsEnabled`), but reads the maps of all files when it loads these, and builds objects of all positions for the
// first stack. Here a map is read when a stack has its file; of its positions the first of each line are kept.
'use strict';
const { readFileSync } = require('node:fs');
const { dirname, resolve } = require('node:path');
const { fileURLToPath } = require('node:url');

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Uint8Array(128);
for (let i = 0; i < DIGITS.length; i++) VALUES[DIGITS.charCodeAt(i)] = i;
const [COMMA, SEMICOLON] = [44, 59];

/** Reads `mappings` of a source map: lines behind each other, in which every number is the difference from the one before. */
class MappingReader {
  #text;
  #at = 0;
  #source = 0;
  #line = 0;
  #column = 0;

  constructor(text, [at, source, line, column] = [0, 0, 0, 0]) {
    this.#text = text;
    this.#at = at;
    this.#source = source;
    this.#line = line;
    this.#column = column;
  }

  get hasEnded() {
    return this.#at >= this.#text.length;
  }

  get state() {
    return [this.#at, this.#source, this.#line, this.#column];
  }

  /** Reads a line to its end. The position of the source for the column `until`: undefined when there is none. */
  readLine(until) {
    let generated = 0;
    let found;
    for (; !this.#isAt(SEMICOLON); this.#skipName()) {
      generated += this.#number();
      const hasSource = !this.#isAt(COMMA) && !this.#isAt(SEMICOLON);
      if (hasSource) {
        this.#source += this.#number();
        this.#line += this.#number();
        this.#column += this.#number();
      }
      if (generated > until) continue;
      found = hasSource ? { source: this.#source, line: this.#line, column: this.#column } : undefined;
    }
    this.#at++;
    return found;
  }

  #skipName() {
    while (!this.#isAt(COMMA) && !this.#isAt(SEMICOLON)) this.#at++;
    if (!this.#isAt(SEMICOLON)) this.#at++;
  }

  /** The end of the text counts as both. */
  #isAt(separator) {
    return this.hasEnded || this.#text.charCodeAt(this.#at) === separator;
  }

  #number() {
    let value = 0;
    for (let shift = 0; ; shift += 5) {
      const digit = VALUES[this.#text.charCodeAt(this.#at++)];
      value |= (digit & 31) << shift;
      if ((digit & 32) === 0) return value & 1 ? -(value >>> 1) : value >>> 1;
    }
  }
}

/** Positions of one file; lines and columns are counted from 0. */
class SourcePositions {
  #sources;
  #mappings;
  #starts = [];

  constructor({ sources, mappings }) {
    this.#sources = sources;
    this.#mappings = mappings;
    const reader = new MappingReader(mappings);
    while (!reader.hasEnded) {
      this.#starts.push(reader.state);
      reader.readLine(-1);
    }
  }

  at(line, column) {
    const start = this.#starts[line];
    const found = start && new MappingReader(this.#mappings, start).readLine(column);
    return found && { ...found, source: this.#sources[found.source] };
  }
}

/** `folder`: URL of the bundled files, with the slash at its end. */
function nameSourcesIn(folder) {
  const known = new Map();
  const positionsOf = (file) => {
    if (!known.has(file)) known.set(file, readPositions(file));
    return known.get(file);
  };
  const place = (found, name, line, column) => {
    const file = fileURLToPath(folder + name);
    const position = positionsOf(file)?.at(line - 1, column - 1);
    if (position === undefined) return found;
    return `${resolve(dirname(file), position.source)}:${position.line + 1}:${position.column + 1}`;
  };
  const bundled = new RegExp(`${folder.replace(/[^\w/]/g, '\\$&')}([\\w.-]+):(\\d+):(\\d+)`);
  Error.prepareStackTrace = (error, sites) => {
    const lines = sites.map((site) => `\n    at ${String(site).replace(bundled, place)}`);
    return Error.prototype.toString.call(error) + lines.join('');
  };
}

/** Undefined when the file has no map, as after another build has taken its place. */
function readPositions(file) {
  try {
    return new SourcePositions(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}

module.exports = { SourcePositions, nameSourcesIn };
