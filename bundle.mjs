// Bundles the program: `program/` of a dist has one folder of few files, main.js for bin/mansio and worker.js for the threads that
// decode bodies, made of src and of the packages that src imports. Code asks for its own files beside itself (`import.meta.url`), so
// migrations and the files of Swagger UI are copied there; the build puts the page there, too. Decision 0069 says why, and which packages
// stay outside.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/** Packages with programs for a platform: the installed program needs these, and no other one. */
export const EXTERNAL = ['uWebSockets.js', 'uWebSockets.js-20.51'];

/** CommonJS packages call `require` for modules of Node.js. */
const REQUIRE = `import { createRequire as requireBeside } from 'node:module'; const require = requireBeside(import.meta.url);`;
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const LICENCE = /^(?:licen[cs]e|copying|notice)\b/i;

/** `dist`: has what the compiler made, and the files that are copied. */
export async function bundle(dist) {
  const program = `${dist}/program`;
  const { metafile } = await build({
    entryPoints: { main: 'src/cli/main.ts', worker: 'src/message-content/decode/worker.ts' },
    outdir: program,
    bundle: true,
    // Each command loads its own code only.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    external: EXTERNAL,
    // The build has patched it.
    alias: { postgres: `./${dist}/node_modules/postgres/src/index.js` },
    banner: { js: REQUIRE },
    // A third less text to compile at each start. Names stay for the log, and lines are short, so that a position is found fast.
    minifyWhitespace: true,
    lineLimit: 200,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  cpSync(`${dist}/src/store/postgres/migrations`, `${program}/migrations`, { recursive: true });
  cpSync(`${dist}/src/gateways/http/routes/swagger-ui`, `${program}/swagger-ui`, { recursive: true });
  writeFileSync(`${program}/THIRD-PARTY-LICENSES`, licencesOf(packagesIn(metafile, program)));
}

/** Folders of the packages whose code is in the bundle, also as a part of another package, whose source map names it. */
function packagesIn({ outputs }, program) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const maps = Object.keys(outputs).filter((file) => file.endsWith('.map'));
  const sources = maps.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')).sources);
  const all = [...files, ...sources.map((source) => relative('.', resolve(program, source)))];
  const folders = new Set(all.flatMap((file) => PACKAGE.exec(file) ?? []));
  return [...folders].filter((folder) => existsSync(join(folder, 'package.json'))).sort();
}

function licencesOf(folders) {
  const texts = folders.map((folder) => {
    const { name, version, license, author, homepage, repository } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    const files = readdirSync(folder).filter((file) => LICENCE.test(file));
    const source = homepage ?? repository?.url ?? repository;
    const head = [`${name} ${version}`, license, author?.name ?? author, source].filter((part) => part !== undefined);
    return [head.join(', '), ...files.map((file) => readFileSync(join(folder, file), 'utf8').trim())].join('\n\n');
  });
  return `The program contains code of these packages, as the registry of npm has them.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
