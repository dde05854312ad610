import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { Dispatcher } from 'undici'

const UNPACK: Record<string, typeof gunzipSync> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}

/**
 * The body of an answer. Some proxies compress what no call of ours asks for.
 * @returns an empty text if it cannot be unpacked
 */
export async function answerText(
  { headers, body }: Pick<Dispatcher.ResponseData, 'headers' | 'body'>,
  maxOutputLength: number,
): Promise<string> {
  const unpack = UNPACK[String(headers['content-encoding']).toLowerCase()]
  if (unpack === undefined) return body.text()
  const packed = await body.arrayBuffer()
  try {
    return new TextDecoder().decode(unpack(packed, { maxOutputLength }))
  } catch {
    return ''
  }
}
