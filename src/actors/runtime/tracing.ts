// Port: spans of a message or request on its way through actors, nodes and gateways. A string connects spans, the W3C trace context
// (traceparent), so packets and rows carry it unchanged. With `NO_TRACER` nothing is recorded, but a context from a packet is still passed
// on.

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** `internal` by default. */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  /** The parent trace context; by default the current one, or a new trace when there is none or it is malformed. */
  readonly parent?: string | undefined;
  /** Related trace contexts. */
  readonly links?: readonly string[];
  readonly attributes?: Attributes;
}

export interface Span {
  /** The trace context for work that the span causes; undefined when nothing is traced. */
  readonly trace: string | undefined;
  /** Spans that begin in `work` are children of this span. */
  within<T>(work: () => T): T;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Must be called once. `failure`: the error; only its code or name is recorded, because texts may contain addresses. */
  end(failure?: unknown): void;
}

export interface Tracer {
  /** The current trace context; undefined when there is none or nothing is traced. */
  readonly current: string | undefined;
  /** Spans that begin in `work` belong to this trace context, or to none. */
  within<T>(trace: string | undefined, work: () => T): T;
  start(name: string, options?: SpanOptions): Span;
}

export const NO_SPAN: Span = {
  trace: undefined,
  within: (work) => work(),
  rename: () => {},
  set: () => {},
  end: () => {},
};

export const NO_TRACER: Tracer = {
  current: undefined,
  within: (_trace, work) => work(),
  start: () => NO_SPAN,
};

/** Runs `work` in the span and ends the span. */
export function spanned<T>(span: Span, work: () => Promise<T>): Promise<T> {
  return span === NO_SPAN ? work() : carriedOut(span, work);
}

async function carriedOut<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await span.within(work);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
