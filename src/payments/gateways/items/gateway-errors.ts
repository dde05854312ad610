export class GatewayRefused extends Error {
  readonly status: number
  readonly code: string | undefined
  /** @param code the gateway's own constant; its message may repeat what was sent */
  constructor(status: number, code: string | undefined) {
    super(`it answered ${status}${code === undefined ? '' : ` (${code})`}`)
    this.status = status
    this.code = code
  }
}
export class UnexpectedAnswer extends Error {}
