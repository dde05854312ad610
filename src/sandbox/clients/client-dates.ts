import { type FieldError, fieldError, invalid } from '../http/refusal.ts'
import type { Office } from '../reference/office.ts'

type Dates = { submittedOn: string; activatedOn?: string | undefined }

export function checkDates(
  { submittedOn, activatedOn }: Dates,
  { openingDate }: Office,
  today: string,
): void {
  const errors: FieldError[] = []
  const add = (code: string, parameter: string, message: string, date: string) =>
    errors.push(fieldError(`error.msg.clients.${code}`, parameter, message, date))
  if (submittedOn > today) {
    const message = 'submitted date cannot be in the future.'
    add('submittedOnDate.in.the.future', 'submittedOnDate', message, submittedOn)
  }
  if (activatedOn !== undefined) {
    if (submittedOn > activatedOn) {
      const message = 'submitted date cannot be after the activation date'
      add('submittedOnDate.after.activation.date', 'submittedOnDate', message, submittedOn)
    }
    if (activatedOn > today) {
      const message = 'Activation date cannot be in the future.'
      add('activationDate.in.the.future', 'activationDate', message, activatedOn)
    }
    if (activatedOn < openingDate) {
      const code = 'activationDate.cannot.be.before.office.activation.date'
      const message = 'Client activation date cannot be a date before the office opening date.'
      add(code, 'activationDate', message, activatedOn)
    }
  }
  if (errors.length > 0) throw invalid(errors)
}
