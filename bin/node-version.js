// Says whether this Node.js runs Mansio: package.json's `engines`, of the form `^20.19.0 || ^22.20.0`, names the ones that do.
// CommonJS in the syntax of old versions, because those are the ones that have to be told.
'use strict';
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

/** One sentence for an operator; undefined when `version` (24.12.0) will do. */
function nodeVersionProblem(version) {
  const { engines } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8'));
  const [major, minor] = version.split('.').map(Number);
  const ranges = engines.node.split('||').map((range) => range.trim().slice(1).split('.').map(Number));
  if (ranges.some(([ofMajor, ofMinor]) => major === ofMajor && minor >= ofMinor)) return undefined;
  const needed = ranges.map(([ofMajor, ofMinor]) => `${ofMajor}.${ofMinor}`).join(', ');
  return `Node.js ${version} does not run Mansio, which needs one of ${needed} or a later release of these lines: install Node.js 24 (20 or 22 where glibc is older than 2.38), then run "npm ci" again`;
}

module.exports = { nodeVersionProblem };
