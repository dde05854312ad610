import { type Answer, settingRefused } from '../../ledger/answers/answer.ts'
import { isPast } from '../../ledger/day-format.ts'

const FUTURE_DATE_CODE = 'error.msg.loan.transaction.cannot.be.a.future.date'

/** @returns undefined unless the ledger refuses `day`, as `dd MMMM yyyy`, because its clock, or our time zone, is behind */
export function laggingClock(answer: Answer, day: string, timeZone: string): Answer | undefined {
  return answer.code === FUTURE_DATE_CODE && isPast(day, timeZone)
    ? settingRefused(answer, 'LEDGER_TIMEZONE, or the ledger’s business date,')
    : undefined
}
