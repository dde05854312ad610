import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { until } from '../until.ts'

export type ReceivedSpan = {
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
  let requests = 0
  const server = createServer(async (request, response) => {
    requests++
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    for (const { scopeSpans } of body.resourceSpans)
      for (const { spans: some } of scopeSpans) spans.push(...some)
    respond(response)
  })
  server.listen(0, '127.0.0.1')
  await until(async () => server.listening)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests: () => requests,
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
