import type { Decimal } from 'decimal.js'
import { containerError, fieldError, invalid, type Refusal } from '../http/refusal.ts'
import { Exact } from '../money.ts'
import type { Body } from './body.ts'
import { localeOf, missingLocale } from './locale.ts'
import { textOf } from './text.ts'

/** What java.text accepts for English: grouping commas anywhere, an exponent only with a capital E. */
const DECIMAL = /^-?(?=[\d,.]*\d)[\d,]*(\.\d*)?(E-?\d+)?$/

export function decimalOf(body: Body, name: string): Decimal | undefined {
  const text = textOf(body, name)
  if (text === undefined) return undefined
  if (typeof body[name] === 'number') return new Exact(text)
  const locale = localeOf(body)
  if (locale === undefined) throw invalid([missingLocale(name)])
  const source = text.trim()
  if (!DECIMAL.test(source)) throw badNumber('decimal', name, text, locale)
  return new Exact(source.replaceAll(',', ''))
}

export function integerOf(body: Body, name: string): number | undefined {
  const text = textOf(body, name)
  if (text === undefined) return undefined
  const locale = localeOf(body)
  if (locale === undefined) throw invalid([missingLocale(name)])
  const source = text.trim().replaceAll(',', '')
  const number = Number(source)
  if (!/^-?\d+$/.test(source) || !isInt32(number)) throw badNumber('integer', name, text, locale)
  return number
}

/** Fineract reads some whole numbers without a locale, and then accepts no grouping. */
export function plainIntegerOf(body: Body, name: string): number | undefined {
  const text = textOf(body, name)
  if (text === undefined) return undefined
  if (!/^[+-]?\d+$/.test(text) || !isInt32(Number(text))) {
    const message = `The parameter \`${name}\` has value: ${text} which is invalid integer.`
    throw invalid([fieldError('validation.msg.invalid.integer', name, message, text)])
  }
  return Number(text)
}

export function idOf(body: Body, name: string): number | undefined {
  const text = textOf(body, name)
  if (text === undefined) return undefined
  if (!/^[+-]?\d{1,18}$/.test(text)) throw containerError(500, `For input string: "${text}"`)
  return Number(text)
}

const isInt32 = (number: number): boolean => number === (number | 0)

function badNumber(kind: string, name: string, text: string, locale: string): Refusal {
  const message = `The parameter \`${name}\` has value: ${text} which is invalid ${kind} value for provided locale of [${locale}].`
  return invalid([fieldError(`validation.msg.invalid.${kind}.format`, name, message, text, locale)])
}
