import { type FieldError, fieldError, invalid } from '../http/refusal.ts'
import type { Body } from './body.ts'
import { localeErrors } from './locale-errors.ts'
import { textAsSent } from './text.ts'

/** Cached, because looking up a language's name costs more than a whole call. */
const known = new Map<string, FieldError[]>()

export function localeOf(body: Body): string | undefined {
  const locale = textAsSent(body, 'locale')
  if (locale === undefined) return undefined
  let errors = known.get(locale)
  if (errors === undefined) {
    errors = localeErrors(locale)
    known.set(locale, errors)
  }
  if (errors.length > 0) throw invalid(errors)
  return locale
}

export function missingLocale(name: string) {
  const message = `The parameter \`${name}\` requires a \`locale\` parameter to be passed with it.`
  return fieldError('validation.msg.missing.locale.parameter', name, message)
}
