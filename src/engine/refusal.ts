import type { Answer } from '../ledger/answers/answer.ts'
import { isOfLedgerShape, type LedgerError } from '../ledger/answers/error-body.ts'

export type Refusal = {
  outcome: 'refused'
  status: null
  body: LedgerError & { httpStatusCode: string; defaultUserMessage: string }
  /** The reason is for the code that acts on the refusal; callers get the body. */
  reason?: string
}

/** Whether it is an answer to a call. A refusal of our own is not. */
export const isAnswer = (given: Answer | Refusal | null): given is Answer =>
  given !== null && 'method' in given

/** Whether a step refused, instead of giving what it was asked for. */
export const isRefusal = (given: object | undefined): given is Refusal =>
  given !== undefined && 'outcome' in given

export function refusal(
  httpStatusCode: string,
  code: `loanops.${string}`,
  message: string,
  reason?: string,
): Refusal {
  const body = {
    httpStatusCode,
    developerMessage: message,
    defaultUserMessage: message,
    userMessageGlobalisationCode: code,
    errors: [
      {
        defaultUserMessage: message,
        developerMessage: message,
        userMessageGlobalisationCode: code,
      },
    ],
  }
  return { outcome: 'refused', status: null, body, ...(reason && { reason }) }
}

export const DIFFERS = 'loanops.differs.at.ledger'
export const differsAtLedger = (how: string): Refusal => refusal('409', DIFFERS, how)

export function failureResponse(answer: Answer | Refusal): object {
  const { body, status } = answer
  if (!isOfLedgerShape(body)) {
    return refusal(String(status), 'loanops.ledger.refused', `The ledger answered ${status}`).body
  }
  // Fineract answers an unreadable body with a bare error, without a status or a list.
  if (Array.isArray(body.errors) && body.errors.length > 0)
    return { httpStatusCode: String(status), ...body }
  return { httpStatusCode: String(status), ...body, errors: [body] }
}

export function failureMessage(answer: Answer | Refusal): string {
  const response = failureResponse(answer) as {
    httpStatusCode: string
    errors: { defaultUserMessage?: string }[]
  }
  const message = response.errors[0]?.defaultUserMessage ?? 'no reason given'
  const about = 'about' in answer ? ` (${answer.about})` : ''
  return answer.status === null
    ? `Refused with status ${response.httpStatusCode}: ${message}`
    : `The ledger refused with status ${response.httpStatusCode}: ${message}${about}`
}
