import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace as spans,
  type Tracer,
} from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { within } from '../../database/within.ts'
import { asWarning, type Log } from '../../log/log.ts'
import { callersTraceparent, parseTraceparent, traceparentOf } from './traceparent.ts'
import type { SpanPart, Trace, Traces } from './traces.ts'

/** While the collector hangs, at most this much tracing is lost; requests never wait. */
const EXPORT_TIMEOUT_MS = 5_000
/** This is part of the 25 s that a stop may take. */
const FLUSH_MS = 2_000
const FAILED_FROM = 500

/** Exports traces in the background: those that the collector does not take in time are dropped. */
export function openOtlpTraces(
  endpoint: string,
  serviceName: string,
  log: Pick<Log, 'warn'>,
): Traces {
  setGlobalErrorHandler(asWarning(log, 'traces could not be exported'))
  const url = new URL(endpoint)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url: url.href, timeoutMillis: EXPORT_TIMEOUT_MS })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  })
  const tracer = provider.getTracer('loanops')
  const requests = new WeakMap<FastifyRequest, Span>()

  return {
    at: traceparent => traceIn(tracer, contextOf(traceparent)),
    linkedTo(traceparent) {
      const context = spans.getSpanContext(contextOf(traceparent))
      return traceIn(tracer, ROOT_CONTEXT, context === undefined ? [] : [{ context }])
    },
    ofRequest(request) {
      const span = requests.get(request)
      return traceIn(tracer, span ? spans.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT)
    },
    watch: app => watchRequests(app, tracer, requests),
    stop: () =>
      within(FLUSH_MS, provider.shutdown(), 'the collector is slow').catch(() => undefined),
  }
}

function contextOf(traceparent: string | null): Context {
  const place = parseTraceparent(traceparent ?? '')
  return place === undefined
    ? ROOT_CONTEXT
    : spans.setSpanContext(ROOT_CONTEXT, { ...place, isRemote: true })
}

function traceIn(tracer: Tracer, context: Context, links: Link[] = []): Trace {
  const place = spans.getSpanContext(context)
  const options = ({ isCall = false, attributes }: SpanPart) => ({
    kind: isCall ? SpanKind.CLIENT : SpanKind.INTERNAL,
    attributes,
    links,
  })
  return {
    traceparent: place === undefined ? null : traceparentOf(place),
    async span(part, task) {
      const span = tracer.startSpan(part.name, options(part), context)
      try {
        return await task(traceIn(tracer, spans.setSpan(context, span)), more =>
          span.setAttributes(more),
        )
      } catch (error) {
        // The error's message is left out, as it may quote what a caller sent.
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
    past(part, from, to) {
      tracer.startSpan(part.name, { ...options(part), startTime: from }, context).end(to)
    },
  }
}

function watchRequests(
  app: FastifyInstance,
  tracer: Tracer,
  requests: WeakMap<FastifyRequest, Span>,
): void {
  app.addHook('onRequest', async request => {
    const { method, routeOptions } = request
    const route = routeOptions.url ?? 'none'
    const attributes = { 'http.request.method': method, 'http.route': route }
    const context = contextOf(callersTraceparent(request))
    const span = tracer.startSpan(
      `${method} ${route}`,
      { kind: SpanKind.SERVER, attributes },
      context,
    )
    requests.set(request, span)
  })
  app.addHook('onResponse', async (request, reply) => {
    const span = requests.get(request)
    span?.setAttribute('http.response.status_code', reply.statusCode)
    if (reply.statusCode >= FAILED_FROM) span?.setStatus({ code: SpanStatusCode.ERROR })
    span?.end()
  })
}
