/** The codes of errors that end a connection before anything is sent over it. */
const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

export const isOfTls = (code: string): boolean => TLS_CODE.test(code)

/** The code of a time-out is a number that says nothing to people. */
export function connectionReason({ code, name }: NodeJS.ErrnoException): string {
  return typeof code === 'string' ? code : name
}
