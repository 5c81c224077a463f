// A collector of traces for tests: it accepts OTLP over HTTP as JSON on a free port and stores the spans.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** '' or undefined for a root. */
  readonly parentSpanId?: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The ids of spans. */
  readonly links: readonly string[];
  /** 2 means failed. */
  readonly status: number;
  /** service.instance.id */
  readonly node: string;
}

export interface Collector {
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** The spans so far; the list grows. */
  readonly spans: readonly CollectedSpan[];
  /** The resource attributes of the last export. */
  readonly resource: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

interface Field {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Field[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes' | 'links' | 'status' | 'node'> & {
        readonly attributes: readonly Field[];
        readonly links?: readonly { readonly spanId: string }[];
        readonly status: { readonly code: number };
      })[];
    }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let resource: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      if (request.url === '/v1/traces') take(JSON.parse(Buffer.concat(pieces).toString()) as Sent);
      response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });

  function take({ resourceSpans }: Sent): void {
    for (const { resource: from, scopeSpans } of resourceSpans) {
      resource = values(from.attributes);
      const node = String(resource['service.instance.id']);
      for (const { attributes, links = [], status, ...span } of scopeSpans.flatMap((scope) => scope.spans)) {
        const linked = links.map(({ spanId }) => spanId);
        spans.push({ ...span, attributes: values(attributes), links: linked, status: status.code, node });
      }
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get resource() {
      return resource;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function values(fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map(({ key, value }) => {
      const [kind, held] = Object.entries(value)[0] ?? [];
      return [key, kind === 'intValue' ? Number(held) : held];
    }),
  );
}
