import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { Unauthenticated } from '../../accounts/access/actor.ts'
import { logFailure } from '../../http/log-failure.ts'
import { refuseOtherMethod } from '../../http/other-methods.ts'
import { problemOf } from '../../http/problem.ts'
import { sendRetryAfter } from '../../http/retry-after.ts'
import { LedgerTrouble } from '../../ledger/answers/answer.ts'
import { isSafe } from '../session/cross-origin.ts'
import { loginBefore } from '../session/next-path.ts'
import { isRefresh } from '../session/session.ts'
import { answerPage } from './answer.ts'
import { saveEndedForm } from './forms/ended-form.ts'
import { fieldErrorText } from './forms/field-error.ts'
import { type RefusedForm, typedInto, withRefusedForm } from './forms/refused-form.ts'
import { type Content, type Html, nothing } from './html.ts'
import { withinPatience } from './in-time.ts'
import { PASSWORD_PATH } from './layout.ts'
import { live } from './live.ts'
import { FORM_PAGE, pathOf, placeBefore, urlWith } from './url.ts'

export async function errorPage(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof Unauthenticated)
    return request.mustChangePassword
      ? leadTo(PASSWORD_PATH, request, reply)
      : toLogin(request, reply)
  const problem = problemOf(error)
  if (problem.status >= 500) logFailure(request, error)
  sendRetryAfter(reply, error, problem.status)
  // Forms read the ledger before they change anything.
  const isUndecided = problem.status >= 500 && !(error.cause instanceof LedgerTrouble)
  request.isFormOpen ||= request.sentForm !== null && isUndecided
  return answerProblem(request, reply, { ...problem, isOpen: request.isFormOpen })
}

export async function noPage(request: FastifyRequest, reply: FastifyReply) {
  refuseOtherMethod(request, reply)
  const [path = '', query] = request.url.split('?', 2)
  if (path.endsWith('/') && isSafe(request)) {
    const target = path.replace(/(?<!\/)\/+$/, '')
    return reply.redirect(query === undefined ? target : `${target}?${query}`, 308)
  }
  const detail = 'There is no such page. Search for an id, or choose a page above.'
  return answerProblem(request, reply, { status: 404, detail })
}

async function toLogin(request: FastifyRequest, reply: FastifyReply) {
  const isForm = !isSafe(request)
  const page = isForm || isRefresh(request) ? placeBefore(request) : request.url
  if (isForm && request.routeOptions.config.needs !== 'own') await saveEndedForm(request, reply)
  return leadTo(loginBefore(page), request, reply)
}

/** htmx would follow a 303 itself and show the other page inside this one. */
function leadTo(path: string, request: FastifyRequest, reply: FastifyReply) {
  if (!isRefresh(request)) return reply.redirect(path, 303)
  return reply.code(401).header('hx-redirect', path).send('')
}

async function answerProblem(request: FastifyRequest, reply: FastifyReply, problem: RefusedForm) {
  reply.code(problem.status)
  if (isRefresh(request)) return answerPart(request, reply, problem)
  const formPage = await pageOfForm(request, problem)
  if (formPage !== undefined) {
    const page = withRefusedForm(formPage, request, problem, alert)
    if (page !== undefined)
      return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(page)
  }
  const title = STATUS_CODES[problem.status] ?? 'Error'
  const body = html`<h1>${headingOf(problem.status)}</h1>
${alert(problem)}
${typedInto(request)}
<p>${wayBack(request)}<a href="/console">Overview</a></p>
<p><small>${problem.status} ${title} · request ${request.id}</small></p>`
  return answerPage(request, reply, { title, body })
}

/** A refused filter leads back to its list, as it was before. */
function wayBack(request: FastifyRequest): Html {
  const page = placeBefore(request)
  if (!isSafe(request)) return html`<a href="${page}">Back to the form</a> · `
  if (page === '/console' || page === request.url) return nothing
  return html`<a href="${page}">Back</a> · `
}

function headingOf(status: number): string {
  if (status === 404) return 'Not found'
  return status < 500 ? 'The request was refused' : 'Something went wrong'
}

/** The page that the refused form was on, as it is now; undefined if it cannot be loaded. */
async function pageOfForm(request: FastifyRequest, { status }: RefusedForm) {
  const url = placeBefore(request)
  // A list's own filter would be shown above rows that it does not select.
  if (isSafe(request) && (status !== 400 || pathOf(url) === pathOf(request.url))) return undefined
  // A file is no page: strangers' texts in it are not escaped, and to read it is an export.
  if (request.user === null || /\.csv(\?|$)/.test(url)) return undefined
  const { 'content-type': _, 'content-length': __, referer: ___, ...headers } = request.headers
  const remoteAddress = request.raw.socket.remoteAddress ?? ''
  // Sent without a Referer: otherwise two refused pages could request each other without end.
  const asked = request.server.inject({
    url: urlWith(url, { [FORM_PAGE]: null, done: null }),
    headers,
    remoteAddress,
  })
  const page = await withinPatience(asked, request.startedAt).catch(() => undefined)
  const isPage = String(page?.headers['content-type']).startsWith('text/html')
  return page?.statusCode === 200 && isPage ? page.body : undefined
}

const OPEN = '. What you sent may still take effect: open the page again before you repeat it.'

/** The response replaces the part that could not be refreshed, and keeps retrying. */
async function answerPart(request: FastifyRequest, reply: FastifyReply, problem: RefusedForm) {
  const part = live(request.url, {}, alert(problem))
  return reply.type('text/html; charset=utf-8').send(String(await part))
}

function alert({ status, detail, fields, isOpen }: RefusedForm): Html {
  const advice = status !== 503 ? '' : isOpen ? OPEN : '. Try again in a few seconds.'
  const [first, ...lines] = detail.split('\n')
  // The detail of an invalid request repeats its fields.
  return html`<div class="alert" role="alert">${
    fields === undefined
      ? html`<p>${first}${advice}</p>${listOf(lines)}`
      : html`<p>Nothing was changed:</p>${listOf(fields.map(fieldErrorText))}`
  }</div>`
}

const listOf = (items: Content[]): Html =>
  items.length === 0 ? nothing : html`<ul>${items.map(item => html`<li>${item}</li>`)}</ul>`
