/** The paths that callers of older services also call with a trailing slash. */
const PATHS =
  /^(\/api\/(?:ledger\/operate|ledger\/track\/[^/?]+|webhooks\/[^/?]+|migration\/upload|migration\/run|account\/login|account\/register))\/(?=\?|$)/

export function withoutTrailingSlash({ url = '/' }: { url?: string | undefined }): string {
  return url.endsWith('/') || url.includes('/?') ? url.replace(PATHS, '$1') : url
}
