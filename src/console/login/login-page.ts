import type { FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import type { Config } from '../../config/config.ts'
import { LOOPBACK } from '../../config/loopback.ts'
import { endedFormIn } from '../frame/forms/ended-form.ts'
import { type Html, nothing } from '../frame/html.ts'
import { nextPath } from '../session/next-path.ts'

export function loginPage(
  request: FastifyRequest,
  { signOn, PASSWORD_LOGIN }: Pick<Config, 'signOn' | 'PASSWORD_LOGIN'>,
  next: string,
  trouble?: string,
): Html {
  return html`<section class="login">
<h1>Log in to LoanOps</h1>
${trouble === undefined ? nothing : html`<p class="alert" role="alert">${trouble}</p>`}
${endedForm(request)}
${hintsFor(request)}
${signOn === undefined ? nothing : html`<p><a href="/console/login/sign-on?next=${encodeURIComponent(nextPath(next))}">Single sign-on</a></p>`}
${PASSWORD_LOGIN ? passwordForm(next) : html`<details><summary>With the password of an emergency account</summary>${passwordForm(next)}</details>`}
</section>`
}

function passwordForm(next: string): Html {
  return html`<form method="post" action="/console/login">
<input type="hidden" name="next" value="${nextPath(next)}">
<label>Username <input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="256" autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required maxlength="256"></label>
<button type="submit">Log in</button>
</form>`
}

function endedForm(request: FastifyRequest): Html {
  const ended = endedFormIn(request)
  if (ended === undefined) return nothing
  return html`<p class="alert" role="alert">Your session had expired when you sent the form; nothing was changed. ${
    ended.typed === null
      ? 'Log in and fill it in again.'
      : 'What you typed has been kept: log in to send it.'
  }</p>`
}

function hintsFor(request: FastifyRequest): Html[] {
  const hints: Html[] = []
  if (cameFromLogin(request))
    hints.push(html`<p class="alert" role="alert">The password was right, but the browser did not keep the cookie.
Allow cookies for this address. If the page is served over plain HTTP behind a proxy that says HTTPS, open it over HTTPS.</p>`)
  if (request.protocol === 'http' && !LOOPBACK.test(request.hostname))
    hints.push(html`<p class="hint">This page came over plain HTTP: anybody on the network can read the password. Open it over HTTPS,
and set TRUST_PROXY if a proxy in front of LoanOps terminates HTTPS.</p>`)
  return hints
}

/** A browser that comes from a successful login without a cookie has rejected it. */
function cameFromLogin({ method, headers }: FastifyRequest): boolean {
  const { referer } = headers
  return (
    method === 'GET' &&
    referer !== undefined &&
    URL.canParse(referer) &&
    new URL(referer).pathname === '/console/login'
  )
}
