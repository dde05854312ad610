export function codeOf(body: unknown): string | null {
  if (!isOfLedgerShape(body)) return null
  return body.errors?.[0]?.userMessageGlobalisationCode ?? body.userMessageGlobalisationCode
}

export type LedgerError = {
  userMessageGlobalisationCode: string
  defaultUserMessage?: string
  developerMessage?: string
  errors?:
    | {
        userMessageGlobalisationCode?: string
        defaultUserMessage?: string
        /** The values in the message. */
        args?: ({ value?: unknown } | undefined)[] | null
      }[]
    | null
}

/** Whether the ledger itself made the error: a container's `{timestamp, status, error, path}` or HTML is not its own. */
export function isOfLedgerShape(body: unknown): body is LedgerError {
  const code = (body as LedgerError | null)?.userMessageGlobalisationCode
  return typeof code === 'string'
}

/** Only the ledger's repeat of its container's 500 has this form. A proxy may drop the header that marks a repeat. */
export function isStoredFailure(status: number, body: unknown): boolean {
  return status === 500 && Object.keys(Object(body)).join() === 'Exception'
}
