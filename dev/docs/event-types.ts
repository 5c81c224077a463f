// Writes the TypeScript types of the events and calls of the hub from the AsyncAPI document.
import { CLIENT_EVENT_TYPES } from '../../src/gateways/events/client-events.js';
import { HUB_CALLS, HUB_EVENTS, NOTICES } from '../../src/gateways/events/event-payloads.js';
import { bareEventDocument } from './openapi-document.js';
import { commented, type Schema, typeOf } from './schema-types.js';

/** The module of the shapes, beside that of the events. */
const SHAPES = './rest.js';
export const EVENT_TYPES = 'src/client/generated/events.ts';

interface Message {
  readonly summary: string;
  readonly payload: Schema;
}

export function eventTypes(): string {
  const { messages } = bareEventDocument()['components'] as { readonly messages: Readonly<Record<string, Message>> };
  const payloads = (names: readonly string[]) =>
    names.map((name) => {
      const { summary, payload } = messages[name]!;
      return `${commented(summary, '  ')}  readonly ${name}: ${typeOf(payload, '  ')};\n`;
    });
  const calls = Object.keys(HUB_CALLS).map((name) => {
    const { summary, payload } = messages[name]!;
    const result = typeOf(messages[`${name}Result`]!.payload, '    ');
    const members = `    readonly argument: ${typeOf(payload, '    ')};\n    readonly result: ${result};\n`;
    return `${commented(summary, '  ')}  readonly ${name}: {\n${members}  };\n`;
  });
  const shapes = Array.from(JSON.stringify(messages).matchAll(/"#\/components\/schemas\/(\w+)"/g), ([, name]) => name!);
  return [
    '// The events and calls of the hub. `npm run docs` writes this file from the AsyncAPI document.',
    `import type { ${[...new Set(shapes)].sort().join(', ')} } from '${SHAPES}';\n`,
    `/** The payload of each event of the account, by the name of the event. */\nexport interface EventPayloads {\n${payloads(CLIENT_EVENT_TYPES).join('')}}\n`,
    `/** The payloads of events of the hub that are not in the log. */\nexport interface HubEventPayloads {\n${payloads(Object.keys({ ...NOTICES, ...HUB_EVENTS })).join('')}}\n`,
    `/** The calls of the hub. */\nexport interface HubCalls {\n${calls.join('')}}\n`,
  ].join('\n');
}
