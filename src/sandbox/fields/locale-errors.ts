import { type FieldError, fieldError } from '../http/refusal.ts'

const languages = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
/** Regions that Intl names although they are not countries in ISO 3166. */
const NO_COUNTRIES = new Set('AC CP CQ DG EA EU EZ IC QO TA UK UN XA XB XK ZZ'.split(' '))

export function localeErrors(locale: string): FieldError[] {
  if (locale.trim() === '') return [wrong('is invalid. It cannot be blank.')]
  const [language = '', country = ''] = locale.split('_')
  return [
    ...(isLanguage(language)
      ? []
      : [wrong(`has an invalid language value ${language} .`, language)]),
    ...(isCountry(country) ? [] : [wrong(`has an invalid country value ${country} .`, country)]),
  ]
}

function wrong(how: string, ...args: string[]): FieldError {
  const message = `The parameter \`locale\` ${how}`
  return fieldError('validation.msg.invalid.locale.format', 'locale', message, ...args)
}

const isLanguage = (language: string): boolean =>
  /^[a-z]{2,3}$/i.test(language) && languages.of(language) !== undefined

/** The country is optional; lower case is not accepted. */
function isCountry(country: string): boolean {
  if (country.trim() === '') return true
  const isRegion = /^[A-Z]{2}$/.test(country) && regions.of(country) !== undefined
  return isRegion && !NO_COUNTRIES.has(country)
}
