// Makes hub messages from the fields that a client sent: checks each field of a message by its type. Pure. All encodings use it; null means
// an absent optional field, as .NET clients write it.
import {
  ACK,
  CANCEL_INVOCATION,
  CLOSE,
  COMPLETION,
  type Headers,
  type HubMessage,
  INVOCATION,
  PING,
  SEQUENCE,
  STREAM_INVOCATION,
  STREAM_ITEM,
} from './hub-messages.js';
import { ProtocolError } from './protocol-error.js';

/**
 * Undefined for types that this version does not know.
 * @throws ProtocolError
 */
export function messageOf(sent: Readonly<Record<string, unknown>>): HubMessage | undefined {
  const fields = new Fields(sent);
  switch (fields.type()) {
    case INVOCATION:
      return {
        type: INVOCATION,
        ...fields.headers(),
        ...fields.optionalText('invocationId'),
        target: fields.text('target'),
        arguments: fields.list('arguments'),
        ...fields.streamIds(),
      };
    case STREAM_ITEM:
      return {
        type: STREAM_ITEM,
        ...fields.headers(),
        invocationId: fields.text('invocationId'),
        item: fields.any('item'),
      };
    case COMPLETION:
      return {
        type: COMPLETION,
        ...fields.headers(),
        invocationId: fields.text('invocationId'),
        ...fields.outcome(),
      };
    case STREAM_INVOCATION:
      return {
        type: STREAM_INVOCATION,
        ...fields.headers(),
        invocationId: fields.text('invocationId'),
        target: fields.text('target'),
        arguments: fields.list('arguments'),
        ...fields.streamIds(),
      };
    case CANCEL_INVOCATION:
      return { type: CANCEL_INVOCATION, ...fields.headers(), invocationId: fields.text('invocationId') };
    case PING:
      return { type: PING };
    case CLOSE:
      return { type: CLOSE, ...fields.optionalText('error'), ...fields.allowReconnect() };
    case ACK:
      return { type: ACK, sequenceId: fields.count('sequenceId') };
    case SEQUENCE:
      return { type: SEQUENCE, sequenceId: fields.count('sequenceId') };
    default:
      return undefined;
  }
}

class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.#fields = fields;
  }

  type(): number {
    return this.count('type');
  }

  text(name: string): string {
    const value = this.#own(name);
    if (typeof value !== 'string' || value === '') throw this.#wrong(name, 'a string that is not empty');
    return value;
  }

  optionalText<N extends string>(name: N): { readonly [K in N]?: string } {
    const value = this.#own(name);
    if (value === undefined || value === null) return {};
    if (typeof value !== 'string') throw this.#wrong(name, 'a string');
    return { [name]: value } as { readonly [K in N]?: string };
  }

  count(name: string): number {
    const value = this.#own(name);
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw this.#wrong(name, 'a whole number');
    return value as number;
  }

  list(name: string): readonly unknown[] {
    const value = this.#own(name);
    if (!Array.isArray(value)) throw this.#wrong(name, 'an array');
    return value;
  }

  any(name: string): unknown {
    const value = this.#own(name);
    if (value === undefined) throw this.#wrong(name, 'present');
    return value;
  }

  headers(): { readonly headers?: Headers } {
    const value = this.#own('headers');
    if (value === undefined || value === null) return {};
    const isRecord = typeof value === 'object' && !Array.isArray(value);
    if (!isRecord || !Object.values(value).every((header) => typeof header === 'string')) {
      throw this.#wrong('headers', 'an object of strings');
    }
    return { headers: value as Headers };
  }

  streamIds(): { readonly streamIds?: readonly string[] } {
    const value = this.#own('streamIds');
    if (value === undefined || value === null) return {};
    if (!Array.isArray(value) || !value.every((id) => typeof id === 'string')) {
      throw this.#wrong('streamIds', 'an array of strings');
    }
    return { streamIds: value };
  }

  outcome(): { readonly result?: unknown; readonly error?: string } {
    const error = this.optionalText('error');
    const result = this.#own('result');
    if (result === undefined) return error;
    if (error.error !== undefined) throw new ProtocolError('A completion with both a result and an error.');
    return { result };
  }

  allowReconnect(): { readonly allowReconnect?: boolean } {
    const value = this.#own('allowReconnect');
    if (value === undefined || value === null) return {};
    if (typeof value !== 'boolean') throw this.#wrong('allowReconnect', 'a boolean');
    return { allowReconnect: value };
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }

  #wrong(name: string, expected: string): ProtocolError {
    return new ProtocolError(`A hub message whose '${name}' is not ${expected}.`);
  }
}
