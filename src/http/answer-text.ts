import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import type { Dispatcher } from 'undici'

/** By the name deflate, servers mean either of two forms. */
const UNPACK: Record<string, (typeof gunzipSync)[]> = {
  gzip: [gunzipSync],
  'x-gzip': [gunzipSync],
  deflate: [inflateSync, inflateRawSync],
  br: [brotliDecompressSync],
}

/**
 * The body of an answer. Some proxies compress what no call of ours asks for.
 * @returns it as it came if it cannot be unpacked: a proxy that unpacks may leave the header
 */
export async function answerText(
  { headers, body }: Pick<Dispatcher.ResponseData, 'headers' | 'body'>,
  maxOutputLength: number,
): Promise<string> {
  const forms = UNPACK[String(headers['content-encoding']).toLowerCase()]
  if (forms === undefined) return body.text()
  const packed = await body.arrayBuffer()
  for (const unpack of forms) {
    try {
      return new TextDecoder().decode(unpack(packed, { maxOutputLength }))
    } catch {
      // The next form may fit.
    }
  }
  return new TextDecoder().decode(packed)
}
