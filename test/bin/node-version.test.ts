// Tests that `bin/mansio` and the build first report a Node.js that cannot run Mansio, before anything else of them runs.
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import test from '../support/test.js';

const { nodeVersionProblem } = createRequire(join(process.cwd(), 'bin/'))('./node-version.js') as {
  nodeVersionProblem(version: string): string | undefined;
};

test('the versions of `engines` pass, others get one sentence', (t) => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  t.regex(engines.node, /^\^\d+\.\d+\.0( \|\| \^\d+\.\d+\.0)*$/, 'the form that bin/node-version.js reads');
  for (const version of ['20.19.0', '20.20.2', '22.20.0', '24.12.0', '24.21.0', '26.10.0']) {
    t.is(nodeVersionProblem(version), undefined, version);
  }
  for (const version of [
    '16.20.2',
    '18.20.8',
    '20.18.3',
    '21.7.3',
    '22.19.0',
    '23.11.0',
    '24.11.1',
    '25.9.0',
    '28.0.0',
  ]) {
    const problem = nodeVersionProblem(version) ?? '';
    t.true(problem.startsWith(`Node.js ${version} does not run Mansio`), version);
    t.regex(
      problem,
      /20\.19, 22\.20, 24\.12.*: install Node\.js 24 \(20 or 22 where glibc is older than 2\.38\), then run "npm ci" again$/,
    );
  }
});

test('program and build end with that sentence', async (t) => {
  const clone = temporaryDirectory();
  for (const file of ['bin', 'build.mjs']) cpSync(file, join(clone, file), { recursive: true });
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ type: 'module', engines: { node: '^99.1.0' } }));
  for (const script of ['bin/mansio', 'build.mjs']) {
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, [join(clone, script), 'serve'], (error, _, stderr) =>
        resolve({ code: error?.code, stderr }),
      );
    });
    t.is(code, 1, script);
    t.is(
      stderr,
      `mansio: Node.js ${process.versions.node} does not run Mansio, which needs one of 99.1 or a later release of these lines: ` +
        'install Node.js 24 (20 or 22 where glibc is older than 2.38), then run "npm ci" again\n',
    );
  }
});

test('a build before npm ci says so', async (t) => {
  const clone = temporaryDirectory();
  for (const file of ['bin', 'build.mjs', 'package.json']) cpSync(file, join(clone, file), { recursive: true });
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, ['build.mjs'], { cwd: clone }, (error, _, stderr) =>
      resolve({ code: error?.code, stderr }),
    );
  });
  t.is(
    stderr,
    'mansio: there is no dist/ and no compiler to make it: run "npm ci" with development packages, or install the package that "npm run package" makes\n',
  );
  t.is(code, 1);
});
