// Checks every diagram of the documents with Mermaid's own parser, which rejects a broken one.
import { readFileSync } from 'node:fs';
import { diagramFault, diagramsOf } from '../../dev/docs/mermaid.js';
import test from '../support/test.js';
import { PAGES } from './documents.js';

test('Mermaid reads every diagram', async (t) => {
  const diagrams = PAGES.flatMap((page) => diagramsOf(readFileSync(page, 'utf8')).map((text) => ({ page, text })));
  t.true(diagrams.length >= 7);
  for (const { page, text } of diagrams) t.is(await diagramFault(text), undefined, `${page}: ${text}`);
});

test('Mermaid turns down a diagram with an error', async (t) => {
  t.is(await diagramFault('flowchart LR\n  a["x"] -->|y| b[("z")]\n'), undefined);
  t.regex((await diagramFault('flowchart LR\n  a["x" --> b\n'))!, /Parse error/);
  t.regex((await diagramFault('sequenceDiagram\n  A->>B hi\n'))!, /Parse error/);
  t.regex((await diagramFault('stateDiagram-v2\n  A -> B\n'))!, /Parse error/);
  t.regex((await diagramFault('flowshart LR\n'))!, /diagram type/);
});

test('the ways of mail, the machine, a deployment, a start and the layout have diagrams', (t) => {
  const count = (page: string) => diagramsOf(readFileSync(page, 'utf8')).length;
  t.is(count('README.md'), 1);
  t.is(count('docs/architecture.md'), 4);
  t.is(count('docs/cluster.md'), 1);
  t.is(count('docs/outbound-statechart.md'), 2);
});
