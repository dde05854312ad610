import type { FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { type HTMLElement, parse } from 'node-html-parser'
import type { FieldError } from '../../../http/problem.ts'
import { isSafe } from '../../session/cross-origin.ts'
import { withUnseenShown } from '../../text/unseen.ts'
import { words } from '../../text/words.ts'
import { facts, type Html } from '../html.ts'
import { FORM_PAGE, pathOf, placeBefore, urlWith } from '../url.ts'
import { FORM_TOKEN } from './ended-form.ts'
import { fieldErrorText } from './field-error.ts'

export type RefusedForm = {
  status: number
  detail: string
  fields?: FieldError[] | undefined
  /** Whether what was sent may still take effect. */
  isOpen?: boolean
}

const REASON_ID = 'refused'
const BESIDE = 'Nothing was changed. The reason is beside the field.'

/**
 * Puts a refused form back into its page, with what was typed, and the reason beside each field.
 * @param page the page that the form came from, as it is now
 * @returns undefined if what was refused is no form's, but a link's
 */
export function withRefusedForm(
  page: string,
  request: FastifyRequest,
  refusal: RefusedForm,
  alertOf: (refusal: RefusedForm) => Html,
): string | undefined {
  const values = typedIn(request)
  const root = parse(page)
  keepPage(root, placeBefore(request))
  const form = root.querySelectorAll('main form').find(one => sentBy(request, one))
  if (form === undefined) {
    if (isSafe(request)) return undefined
    const place = root.querySelector('main h1')
    place?.insertAdjacentHTML(
      'afterend',
      withUnseenShown(`${alertOf(refusal)}${typedInto(request)}`),
    )
    return root.toString()
  }
  for (const control of controlsOf(form)) fill(control, values[control.getAttribute('name') ?? ''])
  if (refusal.isOpen) setToken(form, request.formToken)
  const left = refusal.fields?.filter(field => !mark(form, field))
  const isBeside = refusal.fields !== undefined && left?.length === 0
  const shown = isBeside
    ? { ...refusal, detail: BESIDE, fields: undefined }
    : { ...refusal, fields: left }
  const reason = parse(withUnseenShown(String(alertOf(shown))))
  reason.querySelector('.alert')?.setAttribute('id', REASON_ID)
  form.insertAdjacentHTML('afterbegin', reason.toString())
  for (const one of root.querySelectorAll('[autofocus]')) one.removeAttribute('autofocus')
  const button = sentBy(request, form)
  // A field has its own reason. Whoever cannot see the page hears this one with the button.
  button?.setAttribute('aria-describedby', REASON_ID)
  const first = form.querySelector('[aria-invalid]') ?? button
  first?.setAttribute('autofocus', '')
  return root.toString()
}

/** The fields of a form that the page no longer has. */
export function typedInto(request: FastifyRequest): Html {
  const shown = Object.entries(typedIn(request)).filter(
    ([name]) => !name.includes('password') && name !== 'if_match',
  )
  return facts(shown.map(([name, value]) => [words(name), value]))
}

function typedIn(request: FastifyRequest): Record<string, string> {
  const { searchParams } = new URL(request.url, 'http://console')
  const query = (request.query ?? {}) as object
  // The query has been taken already: a time in it is no longer the one that was typed. What it no longer has is not shown.
  const typed = [...searchParams].filter(([name]) => Object.hasOwn(query, name))
  const sent = isSafe(request) ? Object.fromEntries(typed) : request.body
  const fields = sent !== null && typeof sent === 'object' ? Object.entries(sent) : []
  return Object.fromEntries(fields.filter(([, value]) => typeof value === 'string'))
}

/** The page is shown where the form led to, so that its forms, sent from there, must name it. */
function keepPage(root: HTMLElement, page: string): void {
  root.querySelector('body')?.setAttribute('data-page', page.replaceAll('&', '&amp;'))
  for (const form of root.querySelectorAll('main form[method=post]')) {
    setInUrl(form, 'action', FORM_PAGE, page)
    for (const button of form.querySelectorAll('[formaction]'))
      setInUrl(button, 'formaction', FORM_PAGE, page)
  }
}

/** The button that sent the request, if it is one of the form's: a form leads to its action, and a button may lead elsewhere. */
function sentBy(request: FastifyRequest, form: HTMLElement): HTMLElement | undefined {
  // The fields of a form that changes nothing are in the URL.
  const url = isSafe(request) ? pathOf(request.url) : request.url
  const own = form.getAttribute('action')
  return form
    .querySelectorAll('button')
    .find(one => placeOf(one.getAttribute('formaction') ?? own ?? '') === placeOf(url))
}

const placeOf = (url: string) => urlWith(url, { [FORM_TOKEN]: null, [FORM_PAGE]: null })

const controlsOf = (form: HTMLElement) => form.querySelectorAll('input, textarea, select')

function fill(control: HTMLElement, value: string | undefined): void {
  const type = control.getAttribute('type')
  if (type === 'hidden' || type === 'password' || type === 'file') return
  if (type === 'checkbox') setFlag(control, 'checked', value !== undefined)
  else if (control.tagName === 'TEXTAREA') control.set_content(String(html`${value ?? ''}`))
  else if (control.tagName === 'INPUT') control.setAttribute('value', escaped(value ?? ''))
  else choose(control, value ?? '')
}

/** A choice that is no longer offered must be made again: the browser would silently take the first one offered. */
function choose(select: HTMLElement, value: string): void {
  const options = select.querySelectorAll('option')
  const isChosen = (option: HTMLElement) => option.getAttribute('value') === value
  for (const option of options) setFlag(option, 'selected', isChosen(option))
  if (options.some(isChosen)) return
  select.insertAdjacentHTML('afterbegin', '<option value="" selected>choose again</option>')
  select.setAttribute('required', '')
  select.setAttribute('aria-invalid', 'true')
}

/** The form keeps its token: sent again from here, it is the same form, and has no second effect. */
function setToken(form: HTMLElement, token: string | null): void {
  form.querySelector(`[name=${FORM_TOKEN}]`)?.setAttribute('value', String(token))
  if (form.getAttribute('action')?.includes(`${FORM_TOKEN}=`))
    setInUrl(form, 'action', FORM_TOKEN, String(token))
}

function setInUrl(element: HTMLElement, attribute: string, name: string, value: string): void {
  const url = urlWith(element.getAttribute(attribute) ?? '', { [name]: value })
  element.setAttribute(attribute, escaped(url))
}

/** The parser escapes only the quotes. */
const escaped = (value: string) => value.replaceAll('&', '&amp;')

function setFlag(element: HTMLElement, name: string, isSet: boolean): void {
  if (isSet) element.setAttribute(name, '')
  else element.removeAttribute(name)
}

/** @returns whether the form has the field */
function mark(form: HTMLElement, error: FieldError): boolean {
  const name = error.path.slice(1)
  const control = controlsOf(form).find(one => one.getAttribute('name') === name)
  if (control === undefined || control.getAttribute('type') === 'hidden') return false
  const id = `${name}-refused`
  control.setAttribute('aria-invalid', 'true')
  control.setAttribute('aria-describedby', id)
  const label = control.closest('label') ?? control
  label.insertAdjacentHTML(
    'afterend',
    String(html`<small class="bad" id="${id}">${fieldErrorText(error)}</small>`),
  )
  return true
}
