// Derives REST's fields from the structs of an actor, so that a field is declared once. The JSON types are the same, except that null, the
// actor's value for a missing text, becomes the empty string.
import { type Infer, optional, type Struct } from 'superstruct';
import type { AnyStruct } from '../../../../actors/runtime/protocol.js';
import { type Fields, flag, text, whole } from '../../fields.js';

type Shown<V> = null extends V ? Exclude<V, null> | '' : V;
/** REST's fields: the fields of `own`, and the remaining fields of the actor. */
export type Derived<A extends Fields, O extends Partial<Record<keyof A, AnyStruct>>> = {
  [K in keyof A]: K extends keyof O ? O[K] : Struct<Shown<Infer<A[K]>>, null>;
};

const LEAVES: Readonly<Record<string, () => AnyStruct>> = { string: text, integer: whole, boolean: flag };

/** `own`: fields that REST shows in another form, or describes. @throws Error for a type that has no form here */
export function derivedFields<A extends Fields, O extends Partial<Record<keyof A, AnyStruct>>>(
  fields: A,
  own: O,
): Derived<A, O> {
  const derived = Object.entries(fields).map(([name, struct]) => [name, own[name] ?? fieldOf(name, struct)]);
  return Object.fromEntries(derived) as Derived<A, O>;
}

function fieldOf(name: string, struct: AnyStruct): AnyStruct {
  const leaf = LEAVES[struct.type];
  if (leaf === undefined) throw new Error(`REST needs a form of its own for ${name}`);
  return struct.is(undefined) ? optional(leaf()) : leaf();
}

/** Converts a value of the actor to derived fields. */
export function withoutNulls<T extends object>(value: T): { [K in keyof T]: Shown<T[K]> } {
  const shown = { ...value } as Record<string, unknown>;
  for (const name in shown) if (shown[name] === null) shown[name] = '';
  return shown as { [K in keyof T]: Shown<T[K]> };
}
