// Checks replies against the OpenAPI document, strictly: status, media type and every field must be in it, although
// clients must accept fields that they do not know.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Route } from '../../../src/gateways/http/route.js';

// biome-ignore lint/suspicious/noExplicitAny: a parsed document, looked into by path
export type Document = any;

/** Any operation may reply with these; the document says so in its text. */
const ANYWHERE = new Set([405, 408, 414, 431, 500]);
/** Fields of replies that the document must name; others belong to HTTP. */
const TOLD = ['content-disposition', 'retry-after', 'www-authenticate', 'x-export-truncated'];

export interface ReplyCheck {
  readonly document: Document;
  /** Returns what is wrong with a reply to this method and path; empty when nothing is, or when the path is unknown. */
  faults(method: string, path: string, response: Response, body: () => Promise<unknown>): Promise<readonly string[]>;
}

export function replyCheck(document: Document, routes: readonly Route[]): ReplyCheck {
  const validators = new Map<string, ValidateFunction>();
  const ajv = new Ajv2020({ strict: false, allErrors: true, allowUnionTypes: true });
  // The ES module exports its function as a field.
  (addFormats as unknown as (to: Ajv2020) => void)(ajv);
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  ajv.addSchema({ $id: 'api', ...closed(document) });

  function validator(pointer: string): ValidateFunction {
    const made = validators.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    validators.set(pointer, made);
    return made;
  }

  return {
    document,
    async faults(method, path, response, body) {
      const type = (response.headers.get('content-type') ?? '').split(';')[0]!;
      const route = routeOf(routes, method === 'HEAD' ? 'GET' : method, path);
      const schemaOf = (pointer: string) => (method === 'HEAD' ? [] : check(validator(pointer), body));
      const isProblem = type === 'application/problem+json';
      if (route === undefined || (ANYWHERE.has(response.status) && isProblem)) {
        return isProblem ? schemaOf('/components/schemas/Problem') : [];
      }
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      if (operation === undefined) return [];
      let pointer = `/paths/${escaped(route.path)}/${route.method.toLowerCase()}/responses/${response.status}`;
      let described = operation.responses[response.status];
      if (described === undefined) return [`status ${response.status} is not in the document`];
      if (described.$ref !== undefined) {
        pointer = described.$ref.slice(1);
        described = document.components.responses[pointer.split('/').at(-1)!];
      }
      const faults = headerFaults(described.headers ?? {}, response);
      const content = described.content ?? {};
      const key = [type, type.replace(/\/.*/, '/*')].find((one) => one in content) ?? '*/*';
      if (type === '') return Object.keys(content).length === 0 ? faults : [...faults, 'no content'];
      if (!(key in content)) return [...faults, `${type} is not in the document`];
      if (content[key].schema === undefined) return faults;
      return [...faults, ...(await schemaOf(`${pointer}/content/${escaped(key)}/schema`))];
    },
  };
}

async function check(validate: ValidateFunction, body: () => Promise<unknown>): Promise<readonly string[]> {
  if (validate(await body())) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
}

function headerFaults(described: Document, { headers }: Response): readonly string[] {
  const names = Object.keys(described).map((name) => name.toLowerCase());
  const missing = Object.entries<Document>(described).filter(([name, { required }]) => required && !headers.has(name));
  return [
    ...TOLD.filter((name) => headers.has(name) && !names.includes(name)).map(
      (name) => `${name} is not in the document`,
    ),
    ...missing.map(([name]) => `${name} is missing`),
  ];
}

/** Matches without the router: literal segments go before parameters. */
function routeOf(routes: readonly Route[], method: string, target: string): Route | undefined {
  const segments = target.split('?')[0]!.split('/');
  const fits = ({ path }: Route) => {
    const own = path.split('/');
    return own.length === segments.length && own.every((one, i) => one.startsWith('{') || one === segments[i]);
  };
  const places = (route: Route) => route.path.replaceAll(/\{\w+\}/g, '~');
  return routes
    .filter((route) => route.method === method && fits(route))
    .toSorted((a, b) => (places(a) < places(b) ? -1 : 1))[0];
}

const escaped = (key: string): string =>
  key.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');

/** Returns the same schemas, in which objects with named fields accept no others. */
function closed(value: Document): Document {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  return value.type === 'object' && value.properties !== undefined ? { ...copy, additionalProperties: false } : copy;
}
