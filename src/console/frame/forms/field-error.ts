import { html } from 'hono/html'
import type { FieldError } from '../../../http/problem.ts'
import { words } from '../../text/words.ts'
import type { Content } from '../html.ts'

/** The path of a template, with which one of our own sentences may end. What comes before may be a stranger's text. */
const TEMPLATE = /^(.*)(\/console\/[a-z/-]+\.csv)$/s

export function fieldErrorText({ path, message, isSentence }: FieldError): Content {
  const [, before, template] = TEMPLATE.exec(message) ?? []
  const text =
    template === undefined ? message : html`${before}<a href="${template}" download>${template}</a>`
  return isSentence ? text : html`<strong>${words(path.slice(1))}</strong> ${text}`
}
