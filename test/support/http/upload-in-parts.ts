import { TOKEN } from '../service.ts'

/** After this many bytes, of empty rows too, an upload saves the rows that have come. */
const BYTES_AT_ONCE = 256 * 1024

/**
 * Sends the first lines of a CSV file so that they are saved, and the last one only once `next` says so.
 * @param url with the path and the query
 */
export function uploadInParts(
  url: string,
  [first, last]: [first: string, last: string],
  next: Promise<void>,
  headers: object = {},
): Promise<Response> {
  const boundary = 'slow'
  async function* body() {
    yield `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="slow.csv"\r\n\r\n`
    yield [first, '\n'.repeat(2 * BYTES_AT_ONCE)].join('\n')
    await next
    yield `${last}\r\n--${boundary}--\r\n`
  }
  return fetch(url, {
    method: 'POST',
    headers: {
      'x-internal-token': TOKEN,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...headers,
    },
    body: ReadableStream.from(body()).pipeThrough(new TextEncoderStream()),
    duplex: 'half',
  })
}
