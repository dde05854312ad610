import { fieldError, invalid } from '../http/refusal.ts'
import type { Body } from './body.ts'
import { dateParser } from './date-pattern.ts'
import { localeOf, missingLocale } from './locale.ts'
import { textAsSent, textOf } from './text.ts'

/** @param enclosing what has the dateFormat and the locale: of a date inside a list, the whole body */
export function dateOf(body: Body, name: string, enclosing = body): string | undefined {
  const text = textOf(body, name)
  const locale = localeOf(enclosing)
  if (text === undefined) return undefined
  return parse(text, name, textAsSent(enclosing, 'dateFormat'), locale)
}

function parse(
  text: string,
  name: string,
  dateFormat: string | undefined,
  locale: string | undefined,
): string {
  const withoutFormat = dateFormat === undefined || dateFormat.trim() === ''
  if (withoutFormat || locale === undefined) {
    throw invalid([
      ...(withoutFormat ? [missingDateFormat(name)] : []),
      ...(locale === undefined ? [missingLocale(name)] : []),
    ])
  }
  const date = dateParser(dateFormat, locale)?.(text)
  if (date === undefined) {
    const message = `The parameter \`${name}\` is invalid based on the dateFormat: \`${dateFormat}\` and locale: \`${locale}\` provided:`
    throw invalid([
      fieldError('validation.msg.invalid.dateFormat.format', name, message, undefined, dateFormat),
    ])
  }
  return date
}

function missingDateFormat(name: string) {
  const message = `The parameter \`${name}\` requires a \`dateFormat\` parameter to be passed with it.`
  return fieldError('validation.msg.missing.dateFormat.parameter', name, message)
}
