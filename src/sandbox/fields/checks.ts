import type { Decimal } from 'decimal.js'
import { type FieldError, fieldError, invalid } from '../http/refusal.ts'

export type Checks = ReturnType<typeof checks>

/** Collects all errors of a body, to report them in one answer. */
export function checks(resource: string) {
  const errors: FieldError[] = []
  const fail = (name: string, suffix: string, message: string, ...args: unknown[]) => {
    errors.push(fieldError(`validation.msg.${resource}.${name}.${suffix}`, name, message, ...args))
  }
  return {
    errors,
    fail,
    add: (error: FieldError) => errors.push(error),
    required(name: string, value: unknown) {
      if (value === undefined)
        fail(name, 'cannot.be.blank', `The parameter \`${name}\` is mandatory.`, null)
    },
    atMost(name: string, value: string | undefined, length: number) {
      if (value !== undefined && value.length > length) {
        const message = `The parameter \`${name}\` exceeds max length of ${length}.`
        fail(name, 'exceeds.max.length', message, length, value)
      }
    },
    positive(name: string, value: Decimal | number | undefined) {
      if (value !== undefined && Number(value) <= 0) {
        const message = `The parameter \`${name}\` must be greater than 0.`
        fail(name, 'not.greater.than.zero', message, Number(value), 0)
      }
    },
    zeroOrMore(name: string, value: Decimal | number | undefined) {
      if (value !== undefined && Number(value) < 0) {
        const message = `The parameter \`${name}\` must be greater than or equal to 0.`
        fail(name, 'not.zero.or.greater', message, Number(value), 0)
      }
    },
    within(name: string, value: number | undefined, least: number, most: number) {
      if (value !== undefined && (value < least || value > most)) {
        const message = `The parameter \`${name}\` must be between ${least} and ${most}.`
        fail(name, 'is.not.within.expected.range', message, value, least, most)
      }
    },
    throwIfAny() {
      if (errors.length > 0) throw invalid(errors)
    },
  }
}
