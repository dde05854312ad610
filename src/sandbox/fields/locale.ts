import { fieldError, invalid } from '../http/refusal.ts'
import type { Body } from './body.ts'
import { textAsSent } from './text.ts'

const languages = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
const known = new Map<string, boolean>()

export function localeOf(body: Body): string | undefined {
  const locale = textAsSent(body, 'locale')
  if (locale === undefined || locale.trim() === '') return undefined
  const language = locale.split('_')[0] ?? ''
  if (!isLanguage(language)) {
    const message = `The parameter \`locale\` has an invalid language value ${language} .`
    throw invalid([fieldError('validation.msg.invalid.locale.format', 'locale', message, language)])
  }
  return locale
}

export function missingLocale(name: string) {
  const message = `The parameter \`${name}\` requires a \`locale\` parameter to be passed with it.`
  return fieldError('validation.msg.missing.locale.parameter', name, message)
}

function isLanguage(language: string): boolean {
  let is = known.get(language)
  if (is === undefined) {
    is = /^[a-z]{2,3}$/i.test(language) && languages.of(language) !== undefined
    known.set(language, is)
  }
  return is
}
