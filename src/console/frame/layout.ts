import { html } from 'hono/html'
import type { Claims } from '../../accounts/tokens/access-token.ts'
import { ASSETS } from './assets.ts'
import { count } from './formats.ts'
import { type Content, type Html, nothing } from './html.ts'

export type Page = { title: string; body: Content }
type Viewer = Pick<Claims, 'sub' | 'name' | 'role'> | undefined

const PLACES = [
  ['/console', 'Overview'],
  ['/console/operations', 'Operations'],
  ['/console/payments', 'Payments'],
  ['/console/books', 'Books'],
  ['/console/portfolio', 'Portfolio'],
  ['/console/callbacks', 'Callbacks'],
  ['/console/audit', 'Audit'],
] as const
export const PASSWORD_PATH = '/console/password'
const APPROVALS_PATH = '/console/approvals'
const approvalsTitle = (open: number) => (open === 0 ? 'Approvals' : `Approvals (${count(open)})`)
const FOR_ADMINS = [['/console/accounts', 'Accounts']] as const

/** @param open how many proposals are open; undefined where no act needs approval */
export function layout(
  { title, body, timeZone }: Page & { timeZone: string },
  viewer: Viewer,
  path: string,
  open: number | undefined,
): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · LoanOps</title>
<link rel="icon" href="${ASSETS.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${ASSETS.pico}">
<link rel="stylesheet" href="${ASSETS.style}">
<script src="${ASSETS.htmx}" defer></script>
<script src="${ASSETS.session}" defer></script>
<script src="${ASSETS.upload}" defer></script>
</head>
<body ${viewer === undefined ? nothing : html`data-account="${viewer.sub}"`}>
<a class="skip" href="#main">Skip to the content</a>
${viewer === undefined ? nothing : header(viewer, path, open)}
<main id="main" class="container-fluid">
${body}
</main>
${viewer === undefined ? nothing : html`<footer class="container-fluid"><small>Times are in ${timeZone}.</small></footer>`}
</body>
</html>`
}

function header({ name, role }: NonNullable<Viewer>, path: string, open: number | undefined): Html {
  const places = role === 'admin' ? [...PLACES, ...FOR_ADMINS] : PLACES
  return html`<header class="top container-fluid">
<a class="brand" href="/console">LoanOps</a>
<nav aria-label="Pages"><ul>${places.map(([href, title]) => place(href, title, path))}${open === undefined ? nothing : place(APPROVALS_PATH, approvalsTitle(open), path)}</ul></nav>
<search><form class="search" action="/console/search">
<input type="search" name="q" aria-label="Search for any id" placeholder="Any id or UTR" required maxlength="300">
<button type="submit" class="secondary">Search</button>
</form></search>
<form class="who" method="post" action="/console/logout">
<span><a href="${PASSWORD_PATH}" title="Password and sessions" ${path === PASSWORD_PATH ? html`aria-current="page"` : nothing}>${name}</a> <small>${role}</small></span>
<button type="submit" class="secondary outline">Log out</button>
</form>
</header>`
}

function place(href: string, title: string, path: string): Html {
  const isHere = href === '/console' ? path === href : `${path}/`.startsWith(`${href}/`)
  return html`<li><a href="${href}" ${isHere ? html`aria-current="page"` : nothing}>${title}</a></li>`
}
