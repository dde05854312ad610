export class GatewayRefused extends Error {
  readonly status: number
  readonly code: string | undefined
  /** Whether the id is the reason; false if the refusal gives another one, such as the account or our address. */
  readonly isAboutId: boolean
  /** @param code the gateway's own constant; its message may repeat what was sent @param call what was asked, without ids */
  constructor(status: number, code?: string, isAboutId = true, call?: string) {
    super(
      `it answered ${status}${code === undefined ? '' : ` (${code})`}${call === undefined ? '' : ` to ${call}`}`,
    )
    this.status = status
    this.code = code
    this.isAboutId = isAboutId
  }
}

/** The gateway keeps failing to answer a call. */
export class GatewayUnavailable extends Error {
  readonly retryAfterMs: number
  constructor(
    message: string,
    { retryAfterMs = 0, cause }: { retryAfterMs?: number; cause?: unknown },
  ) {
    super(message, { cause })
    this.retryAfterMs = retryAfterMs
  }
}

/** The answer of a gateway, or undefined if it refuses the id as one that it does not have. */
export async function found(
  answer: Promise<unknown>,
  isAbsent: (refusal: GatewayRefused) => boolean,
): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof GatewayRefused && isAbsent(error)) return undefined
    throw error
  }
}

export class UnexpectedAnswer extends Error {}

export function isGatewayError(error: unknown): error is Error {
  return [GatewayUnavailable, GatewayRefused, UnexpectedAnswer].some(kind => error instanceof kind)
}
