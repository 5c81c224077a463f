// Tests the AsyncAPI document as a whole: it names every event and call, and every reference leads somewhere.
import { readFileSync } from 'node:fs';
import { bareEventDocument } from '../../../../dev/docs/openapi-document.js';
import { CLIENT_EVENT_TYPES } from '../../../../src/gateways/events/client-events.js';
import { NOTICE_TYPES } from '../../../../src/gateways/events/event-payloads.js';
import test from '../../../support/test.js';
import type { Document } from '../schema-check.js';

const document: Document = bareEventDocument();

function at(pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<Document>((value, name) => value?.[name], document);
}

test('every event and call is described, and every reference leads somewhere', (t) => {
  t.is(document.asyncapi, '3.0.0');
  t.deepEqual(Object.keys(document.channels.stream.messages), [...CLIENT_EVENT_TYPES, ...NOTICE_TYPES]);
  const hub = Object.keys(document.channels.hub.messages);
  const others = [...NOTICE_TYPES, 'QueuePositionChanged', 'SessionsChanged', 'Position', 'ListChanged'];
  const calls = ['Resume', 'Subscribe', 'Unsubscribe'];
  t.deepEqual(hub, [...CLIENT_EVENT_TYPES, ...others, ...calls.flatMap((name) => [name, `${name}Result`])]);
  const references = Array.from(JSON.stringify(document).matchAll(/"\$ref":"(#[^"]+)"/g), ([, pointer]) => pointer!);
  t.true(references.length > 80);
  t.deepEqual(
    references.filter((pointer) => at(pointer) === undefined),
    [],
  );
  t.deepEqual(document.components.messages.EmailUpdated.payload, {
    type: 'object',
    required: ['id', 'isRead'],
    properties: { id: { type: 'string', format: 'uuid' }, isRead: { type: 'boolean' } },
  });
  t.deepEqual(document.components.messages.UnsubscribeResult.payload, { const: null });
});

test('docs/hub.md has every event that everybody gets or asks for', (t) => {
  const [, section = ''] =
    /## Events for everybody\n(.*?)\n## Reconnecting/s.exec(readFileSync('docs/hub.md', 'utf8')) ?? [];
  const rows = section.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| /gm);
  const told = Array.from(rows, ([, names]) => names!.match(/\w+/g)!).flat();
  const others = [...NOTICE_TYPES, 'QueuePositionChanged', 'SessionsChanged'];
  t.deepEqual(told.toSorted(), [...CLIENT_EVENT_TYPES, ...others].toSorted());
});
