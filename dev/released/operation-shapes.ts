// The shapes of a protocol as JSON: which members its payloads, replies and events have. A release records those of the mailbox
// (dev/record-release.ts), and a test compares them with the present ones: nodes of two neighbouring versions ask each other (decision 0082).
import { readdirSync, readFileSync } from 'node:fs';
import type { AnyStruct, Protocol } from '../../src/actors/runtime/protocol.js';

/** A member that may be absent has a `?` behind its name. What has several forms is `union`, and is not described further. */
export type Shape =
  | string
  | { readonly members: Readonly<Record<string, Shape>> }
  | { readonly items: Shape }
  | { readonly values: readonly string[] }
  | { readonly orNull: Shape };

export type Recorded =
  | { readonly operation: string; readonly kind: string; payload: Shape; reply: Shape; refusals: readonly string[] }
  | { readonly event: string; readonly payload: Shape };

const RELEASES = 'dev/released';

export const operationsOf = (version: string) => `${RELEASES}/${version}/operations.jsonl`;

export function shapesOf({ operations, events }: Protocol): readonly Recorded[] {
  return [
    ...Object.entries(operations).map(([operation, { kind, payload, reply, refusals }]) => ({
      operation,
      kind,
      payload: shapeOf(payload),
      reply: shapeOf(reply),
      refusals,
    })),
    ...Object.entries(events).map(([event, payload]) => ({ event, payload: shapeOf(payload) })),
  ];
}

/** The recorded shapes by the version that has them. */
export function recordedShapes(): ReadonlyMap<string, readonly Recorded[]> {
  const versions = readdirSync(RELEASES).filter((name) => /^\d+\.\d+\.\d+$/.test(name));
  return new Map(
    versions.map((version) => {
      const lines = readFileSync(operationsOf(version), 'utf8').trim().split('\n');
      return [version, lines.map((line) => JSON.parse(line) as Recorded)];
    }),
  );
}

function shapeOf(struct: AnyStruct): Shape {
  if (struct.type !== 'unknown' && struct.is(null)) return { orNull: shapeWithoutNull(struct) };
  return shapeWithoutNull(struct);
}

function shapeWithoutNull({ type, schema }: AnyStruct): Shape {
  switch (type) {
    case 'object':
    case 'type': {
      const members = Object.entries((schema ?? {}) as Readonly<Record<string, AnyStruct>>);
      return {
        members: Object.fromEntries(
          members.map(([name, struct]) => [struct.is(undefined) ? `${name}?` : name, shapeOf(struct)]),
        ),
      };
    }
    case 'array':
      return { items: shapeOf(schema as AnyStruct) };
    case 'enums':
      return { values: Object.keys(schema as object) };
    default:
      return type;
  }
}

/** What keeps a node with the shape `now` from understanding one with the shape `then`, or the other way round. */
export function differences(then: Shape, now: Shape | undefined, path: string): readonly string[] {
  if (now === undefined) return [`${path} is gone`];
  if (typeof then === 'string' || typeof now === 'string')
    return then === now ? [] : [`${path} was ${JSON.stringify(then)}`];
  if ('members' in then && 'members' in now) {
    const own = now.members;
    const added = Object.keys(own).filter((name) => !(name in then.members) && !name.endsWith('?'));
    return [
      ...added.map((name) => `${path}.${name} is new and must be optional`),
      ...Object.entries(then.members).flatMap(([name, shape]) => differences(shape, own[name], `${path}.${name}`)),
    ];
  }
  if ('items' in then && 'items' in now) return differences(then.items, now.items, `${path}[]`);
  if ('orNull' in then && 'orNull' in now) return differences(then.orNull, now.orNull, path);
  if ('values' in then && 'values' in now) {
    const own = now.values;
    return then.values.filter((value) => !own.includes(value)).map((value) => `${path} lacks the value ${value}`);
  }
  return [`${path} was ${JSON.stringify(then)}`];
}
