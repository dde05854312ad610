import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { serve } from '../http/serve.ts'
import { until } from '../until.ts'

type ReceivedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  links?: { traceId: string }[]
  attributes: { key: string; value: object }[]
  startTimeUnixNano: string
  endTimeUnixNano: string
}

/** Takes spans by OTLP over HTTP, in JSON. */
export async function otlpReceiver(
  t: Test,
  respond = (response: ServerResponse) => void response.end('{}'),
) {
  const spans: ReceivedSpan[] = []
  const paths: (string | undefined)[] = []
  const endpoint = await serve(t, async (request, response) => {
    paths.push(request.url)
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    for (const { scopeSpans } of body.resourceSpans)
      for (const { spans: some } of scopeSpans) spans.push(...some)
    respond(response)
  })
  return {
    endpoint,
    spans,
    /** Of each request, the newest last. */
    paths,
    /** Waits until a span of each of these names has come. */
    named: (...names: string[]) =>
      until(
        async () => {
          const found = names.map(name => spans.find(span => span.name === name))
          return found.includes(undefined) ? undefined : (found as ReceivedSpan[])
        },
        `${names}, so far ${spans.map(({ name }) => name)}`,
      ),
  }
}
